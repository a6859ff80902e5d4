// Informs the thread sanitizer of the order that a contended `Synchronization.Mutex` of Swift creates.
//
// Code takes and releases an uncontended lock by an inlined atomic operation, and the sanitizer sees it. A contended lock is
// taken and released in libswiftSynchronization, which is not instrumented: `_lockSlow` spins and then calls the kernel, and
// `_unlockSlow` calls the kernel. The sanitizer then sees two threads in the same state and no order between them. These three
// functions are loaded before that library. They pass each call on and declare its order. They suppress nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// A program without the sanitizer, such as a child, lacks these two functions.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Synchronization._MutexHandle._lockSlow(UInt32), ._unlockSlow() and ._tryLockSlow() -> Bool
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

METHOD void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
METHOD void unlock_slow(SELF) __asm__(UNLOCK);
METHOD bool try_lock_slow(SELF) __asm__(TRY_LOCK);

METHOD void lock_slow(uint32_t thread, SELF) {
    METHOD void (*next)(uint32_t, SELF) = (METHOD void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK);
    next(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

METHOD void unlock_slow(SELF) {
    METHOD void (*next)(SELF) = (METHOD void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(self);
    next(self);
}

METHOD bool try_lock_slow(SELF) {
    METHOD bool (*next)(SELF) = (METHOD bool (*)(SELF))dlsym(RTLD_NEXT, TRY_LOCK);
    bool taken = next(self);
    if (taken && __tsan_acquire) __tsan_acquire(self);
    return taken;
}
