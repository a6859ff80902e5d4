#pragma once
#include <stdbool.h>
#include <stddef.h>

// The Swift methods that Martlet runs code ahead of.
enum martlet_hook { MARTLET_HOOK_START_LOADING = 0, MARTLET_HOOK_STOP_LOADING = 1, MARTLET_HOOK_RESUME = 2 };
enum { MARTLET_HOOKS = 3, MARTLET_SLOTS = 4 };

// Runs ahead of the hooked method, on the caller's thread, with the object that the method was called on. It must not
// block, throw or trap: it runs inside somebody's service.
typedef void (*martlet_before)(enum martlet_hook hook, void *object);

// Where one method stands: the vtable slots of all classes that have it, MARTLET_SLOTS at most. It takes nothing and
// returns nothing.
struct martlet_method {
    void **slots[MARTLET_SLOTS];
    size_t count;
};

enum martlet_install_result {
    MARTLET_INSTALLED = 0,
    // A slot does not lie in readable memory, or does not hold the address of a method's code.
    MARTLET_NOT_A_METHOD = 1,
    // The slots of a method do not all hold the same.
    MARTLET_METHODS_DIFFER = 2,
    // A page could not be made writable.
    MARTLET_NOT_WRITABLE = 3,
};

// Makes `before` run ahead of the methods, which are in the order of their hooks. All slots of all of them are checked
// before the first is written, and a page's protection is put back afterwards. Nothing is changed unless the result is
// MARTLET_INSTALLED. Not thread-safe; once, or again after martlet_remove.
enum martlet_install_result martlet_install(const struct martlet_method methods[MARTLET_HOOKS], martlet_before before);

// From now on another `before` runs. Thread-safe.
void martlet_change(martlet_before before);

// Puts all methods back. A thread that is in a hook gets out of it as ever.
void martlet_remove(void);

// Whether the hook is in all its slots still. Thread-safe.
bool martlet_is_in_place(enum martlet_hook hook);
