#pragma once
#include <stddef.h>

// The Swift methods that Martlet runs code ahead of.
enum martlet_hook { MARTLET_HOOK_START_LOADING = 0, MARTLET_HOOK_STOP_LOADING = 1, MARTLET_HOOK_RESUME = 2 };

// Runs ahead of the hooked method, on the caller's thread, with the object that the method was called on. It must not
// block, throw or trap: it runs inside somebody's service.
typedef void (*martlet_before)(void *object);

enum martlet_install_result {
    MARTLET_INSTALLED = 0,
    // A slot does not lie in readable memory, or does not hold the address of code.
    MARTLET_NOT_A_METHOD = 1,
    // The slots do not all hold the same method.
    MARTLET_METHODS_DIFFER = 2,
    // A page could not be made writable.
    MARTLET_NOT_WRITABLE = 3,
};

// Makes `before(object)` run ahead of the Swift method that each of the `count` vtable slots holds: a method that takes
// nothing and returns nothing. All slots are checked before the first is written, and a page's protection is put back
// afterwards. Nothing is changed unless the result is MARTLET_INSTALLED. Not thread-safe; once per hook.
enum martlet_install_result martlet_install(
    enum martlet_hook hook, void **const *slots, size_t count, martlet_before before);
