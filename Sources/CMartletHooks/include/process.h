#pragma once
#include <stdint.h>

// Twice the forks since the agent was started first, in the way from that process to this one, and 1. The kernel clears it
// where a fork runs no handlers.
extern uint32_t *martlet_word;

// The number of this process among its ancestors: another one than theirs in a child that was forked. Thread-safe; costs
// two loads.
static inline uint32_t martlet_process(void) {
    return __atomic_load_n(__atomic_load_n(&martlet_word, __ATOMIC_RELAXED), __ATOMIC_RELAXED) ^ 1;
}

// Counts forks from now on. Not those that execute another program at once (`posix_spawn`, `vfork`, `system`): they run
// no handlers. Thread-safe; later calls change nothing.
void martlet_count_forks(void);

// Swift's runtime has locks that know nothing of forks: one that the agent's thread holds at a fork stays locked in the
// child. So a fork waits for that thread, for 20 ms at most, until it is at rest, and the thread stays there meanwhile.
// For the agent's thread alone, around each of its waits and while it works.
void martlet_begin_work(void);
void martlet_end_work(void);
