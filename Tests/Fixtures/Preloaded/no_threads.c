// Loaded before the C library. Lets only libdispatch make threads; all others get EAGAIN, as at a limit of processes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!create) *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    Dl_info caller;
    int is_dispatch = dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libdispatch");
    return is_dispatch ? create(thread, attributes, body, argument) : EAGAIN;
}
