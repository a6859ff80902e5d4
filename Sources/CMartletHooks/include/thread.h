#pragma once
#include <stdbool.h>

// Names the calling thread, for people who look at the process; 15 bytes at most.
void martlet_name_thread(const char *name);

// Returns the processor that the calling thread runs on at this moment; any number if that is not known.
unsigned martlet_processor(void);

// Returns whether libdispatch has begun to make threads in this process; `false` if it does not tell. From then on it works in
// no forked child.
bool martlet_has_queue_threads(void);
