#include "hooks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>

// A Swift method's calling convention: `self` is passed in the context register.
typedef __attribute__((swiftcall)) void (*swift_method)(__attribute__((swift_context)) void *self);

static struct martlet_method hooked[MARTLET_HOOKS];
static swift_method original[MARTLET_HOOKS];
static martlet_before before_method;

static bool run_before(enum martlet_hook hook, void *self) {
    // A thread may come here by a slot that another thread has just written. On arm64 it could still see `before_method` and
    // `original` as they were before (on x86 the fence is no instruction).
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&before_method, __ATOMIC_RELAXED)(hook, self);
}

static __attribute__((swiftcall)) void start_loading(__attribute__((swift_context)) void *self) {
    if (run_before(MARTLET_HOOK_START_LOADING, self)) original[MARTLET_HOOK_START_LOADING](self);
}

static __attribute__((swiftcall)) void stop_loading(__attribute__((swift_context)) void *self) {
    (void)run_before(MARTLET_HOOK_STOP_LOADING, self);
    original[MARTLET_HOOK_STOP_LOADING](self);
}

static __attribute__((swiftcall)) void resume(__attribute__((swift_context)) void *self) {
    (void)run_before(MARTLET_HOOK_RESUME, self);
    original[MARTLET_HOOK_RESUME](self);
}

static const swift_method replacement[MARTLET_HOOKS] = {start_loading, stop_loading, resume};

// The Swift runtime puts this function in the place of a deleted method. It crashes the process.
extern void swift_deletedMethodError(void) __attribute__((weak));

// Returns the access rights of the memory at `address`, in PROT_ bits; -1 if nothing is mapped.
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

static bool has_maps(void) {
    FILE *maps = fopen("/proc/self/maps", "re");
    bool has_line = maps && fgetc(maps) != EOF;
    if (maps) fclose(maps);
    return has_line;
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

static bool is_method(const void *code) {
    const void *deleted = (const void *)swift_deletedMethodError;
    if (!allows(code, PROT_EXEC) || (deleted && code == deleted)) return false;
    // A hook that is its own original would never return.
    for (int hook = 0; hook < MARTLET_HOOKS; hook++) {
        if (code == (const void *)replacement[hook]) return false;
    }
    return true;
}

static enum martlet_install_result check(const struct martlet_method *method) {
    if (method->count == 0 || method->count > MARTLET_SLOTS) return MARTLET_NOT_A_METHOD;
    for (size_t i = 0; i < method->count; i++) {
        if (!allows(method->slots[i], PROT_READ) || !is_method(*method->slots[i])) return MARTLET_NOT_A_METHOD;
        if (*method->slots[i] != *method->slots[0]) return MARTLET_METHODS_DIFFER;
    }
    return MARTLET_INSTALLED;
}

enum martlet_install_result martlet_install(
    const struct martlet_method methods[MARTLET_HOOKS], martlet_before before) {
    if (!has_maps()) return MARTLET_NO_MAPS;
    for (int hook = 0; hook < MARTLET_HOOKS; hook++) {
        enum martlet_install_result result = check(&methods[hook]);
        if (result != MARTLET_INSTALLED) return result;
    }
    __atomic_store_n(&before_method, before, __ATOMIC_RELEASE);
    for (int hook = 0; hook < MARTLET_HOOKS; hook++) {
        hooked[hook] = methods[hook];
        original[hook] = (swift_method)*methods[hook].slots[0];
    }
    for (int hook = 0; hook < MARTLET_HOOKS; hook++) {
        for (size_t i = 0; i < hooked[hook].count; i++) {
            if (write_slot(hooked[hook].slots[i], (void *)replacement[hook])) continue;
            martlet_remove();
            return MARTLET_NOT_WRITABLE;
        }
    }
    return MARTLET_INSTALLED;
}

static bool holds(void *const *slot, enum martlet_hook hook) {
    return __atomic_load_n(slot, __ATOMIC_RELAXED) == (void *)replacement[hook];
}

void martlet_remove(void) {
    for (int hook = 0; hook < MARTLET_HOOKS; hook++) {
        for (size_t i = 0; i < hooked[hook].count; i++) {
            // A slot that another library has written since then belongs to that library.
            if (holds(hooked[hook].slots[i], hook)) write_slot(hooked[hook].slots[i], (void *)original[hook]);
        }
        hooked[hook].count = 0;
    }
}

bool martlet_is_in_place(enum martlet_hook hook) {
    for (size_t i = 0; i < hooked[hook].count; i++) {
        if (!holds(hooked[hook].slots[i], hook)) return false;
    }
    return hooked[hook].count > 0;
}

#else

// On other systems URLSession is not that of swift-corelibs-foundation, and nothing is ever installed.
enum martlet_install_result martlet_install(
    const struct martlet_method methods[MARTLET_HOOKS], martlet_before before) {
    (void)methods, (void)before;
    return MARTLET_NOT_A_METHOD;
}

void martlet_remove(void) {}

bool martlet_is_in_place(enum martlet_hook hook) {
    (void)hook;
    return false;
}

#endif
