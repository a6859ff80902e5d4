#pragma once
#include <stdint.h>

// Twice the number of forks between the process that first started the agent and this one, plus 1. The kernel sets the
// word to 0 in a child whose fork runs no handlers.
extern uint32_t *martlet_word;

// Returns a number of this process that none of its ancestors has. Thread-safe; costs two loads.
static inline uint32_t martlet_process(void) {
    return __atomic_load_n(__atomic_load_n(&martlet_word, __ATOMIC_RELAXED), __ATOMIC_RELAXED) ^ 1;
}

// Counts forks from now on. Forks that immediately execute another program (`posix_spawn`, `vfork`, `system`) do not
// count, because they run no handlers. Thread-safe; later calls change nothing.
void martlet_count_forks(void);

// Begin and end the work of the agent's thread, which is idle in between. Swift's runtime has locks that do not handle
// forks: if this thread holds one at a fork, it stays locked in the child. So a fork waits until the thread is idle, at
// most 20 ms, and the thread stays idle until the fork is over. Only for the agent's thread, around each of its waits.
void martlet_begin_work(void);
void martlet_end_work(void);
