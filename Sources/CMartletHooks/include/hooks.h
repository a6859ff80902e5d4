#pragma once
#include <stdbool.h>
#include <stddef.h>

// The Swift methods before which Martlet runs code.
enum martlet_hook { MARTLET_HOOK_START_LOADING = 0, MARTLET_HOOK_STOP_LOADING = 1, MARTLET_HOOK_RESUME = 2 };
enum { MARTLET_HOOKS = 3, MARTLET_SLOTS = 4 };

// Runs before the hooked method, on the caller's thread, with the object of the call. It must not block, throw or trap,
// because it runs inside a service. Returns whether startLoading continues; the other methods always do.
typedef bool (*martlet_before)(enum martlet_hook hook, void *object);

// The vtable slots of one method, in all classes that have it, at most MARTLET_SLOTS. The method has no parameters and
// no result.
struct martlet_method {
    void **slots[MARTLET_SLOTS];
    size_t count;
};

enum martlet_install_result {
    MARTLET_INSTALLED = 0,
    // A slot is not in readable memory, or does not hold the address of a method's code.
    MARTLET_NOT_A_METHOD = 1,
    // The slots of a method do not all hold the same address.
    MARTLET_METHODS_DIFFER = 2,
    // A page could not be made writable.
    MARTLET_NOT_WRITABLE = 3,
    // The rights of the process's memory are unknown, because /proc/self/maps cannot be read.
    MARTLET_NO_MAPS = 4,
};

// Makes `before` run before the methods, which are in the order of their hooks. Checks all slots of all methods before
// it writes the first, and restores a page's protection afterwards. Changes nothing unless the result is
// MARTLET_INSTALLED. Not thread-safe. Call it once, or again after martlet_remove.
enum martlet_install_result martlet_install(const struct martlet_method methods[MARTLET_HOOKS], martlet_before before);

// Restores all methods. A thread that is in a hook leaves it as usual.
void martlet_remove(void);

// Returns whether the hook is still in all its slots. Thread-safe.
bool martlet_is_in_place(enum martlet_hook hook);
