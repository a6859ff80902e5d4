#pragma once
#include <stdbool.h>

// Runs `body` on a new, detached thread. Returns 0, or the error of `pthread_create`, such as EAGAIN at a limit of processes.
int martlet_start_thread(void (*body)(void *context), void *context);

// Names the calling thread, for people who inspect the process; at most 15 bytes.
void martlet_name_thread(const char *name);

// Returns the processor that the calling thread is running on; any number if that is unknown.
unsigned martlet_processor(void);

// Returns whether libdispatch has begun to create threads in this process; `false` if that is unknown. After that it
// works in no forked child.
bool martlet_has_queue_threads(void);
