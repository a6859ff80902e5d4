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

// The CPU time of the service's own code, in nanoseconds, within the work of the agent's that the calling thread measures;
// negative while it measures none.
int64_t martlet_service_time(void);
void martlet_set_service_time(int64_t nanoseconds);
