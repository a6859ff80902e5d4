#include "process.h"

#include "descriptors.h"

#include <pthread.h>

uint32_t martlet_forks;

// In the child, where the thread that forked is the only one.
static void begin_child(void) {
    __atomic_fetch_add(&martlet_forks, 1, __ATOMIC_RELAXED);
    martlet_close_copies();
}

static void watch(void) { pthread_atfork(NULL, NULL, begin_child); }

void martlet_count_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}
