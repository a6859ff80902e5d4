#define _GNU_SOURCE
#include "lock.h"

#include <errno.h>
#include <sched.h>

#ifdef __linux__
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_for(uint32_t *lock) { syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL); }

void martlet_wake_waiter(uint32_t *lock) { syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1); }
#else
static void wait_for(uint32_t *lock) {
    (void)lock;
    sched_yield();
}

void martlet_wake_waiter(uint32_t *lock) { (void)lock; }
#endif

// The algorithm is in Drepper, "Futexes are tricky", 2011, section 5. It preserves the service's `errno`.
void martlet_lock_slowly(uint32_t *lock) {
    int error = errno;
    while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0) wait_for(lock);
    errno = error;
}
