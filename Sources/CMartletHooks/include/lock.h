#pragma once
#include <stdint.h>

// A lock in one word: 0 if free, 1 if taken, 2 if taken and a thread may be waiting. Also works in a forked child.

void martlet_lock_slowly(uint32_t *lock);
void martlet_wake_waiter(uint32_t *lock);

static inline void martlet_lock(uint32_t *lock) {
    uint32_t free = 0;
    if (__atomic_compare_exchange_n(lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    martlet_lock_slowly(lock);
}

static inline void martlet_unlock(uint32_t *lock) {
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2) martlet_wake_waiter(lock);
}
