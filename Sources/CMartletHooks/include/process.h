#pragma once
#include <stdint.h>

// Twice the number of forks between the process that first started the agent and this one, plus 1. The kernel sets the word
// to 0 in a child whose fork runs no handlers.
extern uint32_t *martlet_word;

// Returns the number of this process among its ancestors, which no ancestor has. Thread-safe; costs two loads.
static inline uint32_t martlet_process(void) {
    return __atomic_load_n(__atomic_load_n(&martlet_word, __ATOMIC_RELAXED), __ATOMIC_RELAXED) ^ 1;
}

// Counts forks from now on. Forks that execute another program at once (`posix_spawn`, `vfork`, `system`) do not count: they
// run no handlers. Thread-safe; later calls change nothing.
void martlet_count_forks(void);

// Begin and end the work of the agent's thread, which is at rest in between. Swift's runtime has locks that know nothing of
// forks: a lock that this thread holds at a fork stays locked in the child. So a fork waits until the thread is at rest, for
// 20 ms at most, and the thread rests until the fork is over. For the agent's thread alone, around each of its waits.
void martlet_begin_work(void);
void martlet_end_work(void);
