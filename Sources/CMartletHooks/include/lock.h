#pragma once
#include <stdint.h>

// The slow steps of a lock in one word: 0 if free, 1 if taken, 2 if taken and a thread may be waiting. They also work in a
// forked child. System/Lock.swift has the fast steps.

// Waits until the lock is free, and takes it.
void martlet_lock_slowly(uint32_t *lock);

// Wakes a waiting thread, after the lock was set free.
void martlet_wake_waiter(uint32_t *lock);
