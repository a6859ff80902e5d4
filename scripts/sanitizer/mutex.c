// Tells the thread sanitizer what Swift's `Synchronization.Mutex` does when it is contended.
//
// An uncontended lock is taken and given back by an atomic operation that is inlined into the code that uses it, where
// the sanitizer sees it. A contended one is taken and given back in libswiftSynchronization, which is not instrumented:
// `_lockSlow` spins and then asks the kernel, `_unlockSlow` asks the kernel. The sanitizer then sees two threads in the
// same state and nothing that orders them. Loaded ahead of that library, these three pass each call on and state the
// order that it makes. Nothing is suppressed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Absent in a program that is built without the sanitizer (a child, for instance).
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
