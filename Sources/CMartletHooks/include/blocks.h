#ifndef MARTLET_BLOCKS_H
#define MARTLET_BLOCKS_H

#include <stdint.h>

/// Allocates the blocks of an open file, so that writing to them through a mapping cannot fail for lack of space.
///
/// Returns 0, or the errno; ENOTSUP on a file system that cannot guarantee this.
int martlet_allocate_blocks(int descriptor, int64_t count);

// Returns how many bytes of its memory the process may lock (RLIMIT_MEMLOCK).
uint64_t martlet_lockable_bytes(void);

#endif
