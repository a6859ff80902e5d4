#define _GNU_SOURCE
#include "thread.h"

#include <pthread.h>
#include <sched.h>

void martlet_name_thread(const char *name) {
#ifdef __APPLE__
    pthread_setname_np(name);
#else
    pthread_setname_np(pthread_self(), name);
#endif
}

unsigned martlet_processor(void) {
#ifdef __linux__
    return (unsigned)sched_getcpu();
#else
    return 0;
#endif
}

// Declared in libdispatch's dispatch/private.h.
extern bool _dispatch_is_multithreaded(void) __attribute__((weak));

bool martlet_has_queue_threads(void) {
    return _dispatch_is_multithreaded != 0 && _dispatch_is_multithreaded();
}
