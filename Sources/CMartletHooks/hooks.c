#include "hooks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>

// A Swift method's calling convention: `self` travels in the context register.
typedef __attribute__((swiftcall)) void (*swift_method)(__attribute__((swift_context)) void *self);

static swift_method original[3];
static martlet_before before_method[3];

static __attribute__((swiftcall)) void start_loading(__attribute__((swift_context)) void *self) {
    before_method[MARTLET_HOOK_START_LOADING](self);
    original[MARTLET_HOOK_START_LOADING](self);
}

static __attribute__((swiftcall)) void stop_loading(__attribute__((swift_context)) void *self) {
    before_method[MARTLET_HOOK_STOP_LOADING](self);
    original[MARTLET_HOOK_STOP_LOADING](self);
}

static __attribute__((swiftcall)) void resume(__attribute__((swift_context)) void *self) {
    before_method[MARTLET_HOOK_RESUME](self);
    original[MARTLET_HOOK_RESUME](self);
}

static const swift_method replacement[3] = {start_loading, stop_loading, resume};

// How the memory at `address` may be used, in PROT_ bits; -1 where nothing is mapped.
static int protection(const void *address) {
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return -1;
    int result = -1;
    char line[512];
    while (fgets(line, sizeof line, maps)) {
        unsigned long low, high;
        char r, w, x;
        if (sscanf(line, "%lx-%lx %c%c%c", &low, &high, &r, &w, &x) != 5) continue;
        if ((uintptr_t)address < low || (uintptr_t)address >= high) continue;
        result = (r == 'r' ? PROT_READ : 0) | (w == 'w' ? PROT_WRITE : 0) | (x == 'x' ? PROT_EXEC : 0);
        break;
    }
    fclose(maps);
    return result;
}

static bool allows(const void *address, int bit) {
    int bits = protection(address);
    return bits >= 0 && (bits & bit);
}

static bool write_slot(void **slot, void *value) {
    int before = protection(slot);
    if (before < 0) return false;
    if (before & PROT_WRITE) {
        __atomic_store_n(slot, value, __ATOMIC_SEQ_CST);
        return true;
    }
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(size - 1));
    if (mprotect(page, size, before | PROT_WRITE) != 0) return false;
    __atomic_store_n(slot, value, __ATOMIC_SEQ_CST);
    mprotect(page, size, before);
    return true;
}

enum martlet_install_result martlet_install(
    enum martlet_hook hook, void **const *slots, size_t count, martlet_before before) {
    for (size_t i = 0; i < count; i++) {
        if (!allows(slots[i], PROT_READ) || !allows(*slots[i], PROT_EXEC)) return MARTLET_NOT_A_METHOD;
        if (*slots[i] != *slots[0]) return MARTLET_METHODS_DIFFER;
    }
    void *method = *slots[0];
    original[hook] = (swift_method)method;
    before_method[hook] = before;
    for (size_t i = 0; i < count; i++) {
        if (write_slot(slots[i], (void *)replacement[hook])) continue;
        while (i-- > 0) write_slot(slots[i], method);
        return MARTLET_NOT_WRITABLE;
    }
    return MARTLET_INSTALLED;
}

#else

// Elsewhere URLSession is not swift-corelibs-foundation's, and nothing is ever installed.
enum martlet_install_result martlet_install(
    enum martlet_hook hook, void **const *slots, size_t count, martlet_before before) {
    (void)hook, (void)slots, (void)count, (void)before;
    return MARTLET_NOT_A_METHOD;
}

#endif
