#pragma once
#include <stdbool.h>
#include <stdint.h>

// Returns true once in `share` calls of the calling thread, by a counter that no other thread shares.
static inline bool martlet_takes_turn(uint32_t share) {
    static __thread uint32_t calls;
    if (++calls < share) return false;
    calls = 0;
    return true;
}
