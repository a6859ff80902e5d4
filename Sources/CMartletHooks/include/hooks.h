#pragma once
#include <stdbool.h>
#include <stddef.h>

// The Swift methods that Martlet runs code ahead of.
enum martlet_hook { MARTLET_HOOK_START_LOADING = 0, MARTLET_HOOK_STOP_LOADING = 1, MARTLET_HOOK_RESUME = 2 };
enum { MARTLET_HOOKS = 3, MARTLET_SLOTS = 4 };

// Runs ahead of the hooked method, on the caller's thread, with the object that the method was called on. It must not block,
// throw or trap, because it runs inside a service. Returns whether startLoading goes on; the other methods do in any case.
typedef bool (*martlet_before)(enum martlet_hook hook, void *object);

// The vtable slots that hold one method: those of all classes that have it, MARTLET_SLOTS at most. The method takes nothing
// and returns nothing.
struct martlet_method {
    void **slots[MARTLET_SLOTS];
    size_t count;
};

enum martlet_install_result {
    MARTLET_INSTALLED = 0,
    // A slot does not lie in readable memory, or does not hold the address of a method's code.
    MARTLET_NOT_A_METHOD = 1,
    // The slots of a method do not all hold the same address.
    MARTLET_METHODS_DIFFER = 2,
    // A page could not be made writable.
    MARTLET_NOT_WRITABLE = 3,
};

// Makes `before` run ahead of the methods, which are in the order of their hooks. It checks all slots of all methods before
// it writes the first, and puts a page's protection back afterwards. Nothing has changed unless the result is
// MARTLET_INSTALLED. Not thread-safe. To be called once, or again after martlet_remove.
enum martlet_install_result martlet_install(const struct martlet_method methods[MARTLET_HOOKS], martlet_before before);

// Makes another `before` run from now on. Thread-safe.
void martlet_change(martlet_before before);

// Puts all methods back. A thread that is in a hook leaves it as usual.
void martlet_remove(void);

// Returns whether the hook is still in all its slots. Thread-safe.
bool martlet_is_in_place(enum martlet_hook hook);
