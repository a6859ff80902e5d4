#define _GNU_SOURCE
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

// musl's own is 128 KiB.
enum { LEAST_STACK = 1 << 20 };

struct start {
    void (*body)(void *context);
    void *context;
};

static void *run(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    start.body(start.context);
    return NULL;
}

static int create(struct start *start) {
    pthread_t thread;
    pthread_attr_t attributes;
    size_t stack = 0;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_getstacksize(&attributes, &stack);
    if (stack < LEAST_STACK) pthread_attr_setstacksize(&attributes, LEAST_STACK);
    error = pthread_create(&thread, &attributes, run, start);
    pthread_attr_destroy(&attributes);
    return error;
}

int martlet_start_thread(void (*body)(void *context), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    *start = (struct start){body, context};
    int error = create(start);
    if (error) free(start);
    return error;
}

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
