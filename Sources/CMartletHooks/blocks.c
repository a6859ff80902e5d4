#define _GNU_SOURCE
#include "blocks.h"

#include <errno.h>
#include <sys/resource.h>

#ifdef __linux__
#include <fcntl.h>
#include <stdbool.h>
#include <sys/vfs.h>

// File systems that use allocated blocks for later writes (statfs(2), "Filesystem types"). A copy-on-write file system
// needs a new block for every write. overlayfs passes the call to one of the others, or refuses.
static bool keeps_promises(unsigned long type) {
    switch (type) {
    case 0xEF53:      // ext2, ext3, ext4
    case 0x58465342:  // XFS
    case 0x01021994:  // tmpfs
    case 0x794C7630:  // overlayfs
        return true;
    default:
        return false;
    }
}

// posix_fallocate is unsuitable: if the file system cannot allocate, it writes zeroes and guarantees nothing.
int martlet_allocate_blocks(int descriptor, int64_t count) {
    struct statfs system;
    if (fstatfs(descriptor, &system) != 0) return errno;
    if (!keeps_promises((unsigned long)system.f_type)) return ENOTSUP;
    int result;
    do {
        result = fallocate(descriptor, 0, 0, count);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}
#else
int martlet_allocate_blocks(int descriptor, int64_t count) {
    (void)descriptor, (void)count;
    return ENOTSUP;
}
#endif

uint64_t martlet_lockable_bytes(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? (uint64_t)limit.rlim_cur : 0;
}
