#pragma once
#include <stdbool.h>
#include <stdint.h>

// Returns true once in `share` calls of the calling thread. Each thread has its own counter.
static inline bool martlet_takes_turn(uint32_t share) {
    static __thread uint32_t calls;
    if (++calls < share) return false;
    calls = 0;
    return true;
}

// The CPU time of the service's closures within the agent's work that the calling thread is measuring, in nanoseconds;
// negative if it is measuring none.
int64_t martlet_service_time(void);
void martlet_set_service_time(int64_t nanoseconds);
