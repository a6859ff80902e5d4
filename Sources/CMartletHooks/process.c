#include "process.h"

#include "descriptors.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

enum { LONGEST_WAIT = 20000, STEP = 100 };  // microseconds

uint32_t martlet_forks;
static uint32_t forking, working;

static void wait_until_zero(const uint32_t *count) {
    int error = errno;
    for (int waited = 0; waited < LONGEST_WAIT && __atomic_load_n(count, __ATOMIC_SEQ_CST) != 0; waited += STEP) usleep(STEP);
    errno = error;
}

void martlet_begin_work(void) {
    __atomic_fetch_add(&working, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&forking, __ATOMIC_SEQ_CST) != 0) {
        __atomic_fetch_sub(&working, 1, __ATOMIC_SEQ_CST);
        wait_until_zero(&forking);
        __atomic_fetch_add(&working, 1, __ATOMIC_SEQ_CST);
    }
}

void martlet_end_work(void) { __atomic_fetch_sub(&working, 1, __ATOMIC_SEQ_CST); }

static void prepare(void) {
    __atomic_fetch_add(&forking, 1, __ATOMIC_SEQ_CST);
    wait_until_zero(&working);
}

static void go_on(void) { __atomic_fetch_sub(&forking, 1, __ATOMIC_SEQ_CST); }

// In the child, where the thread that forked is the only one.
static void begin_child(void) {
    __atomic_fetch_add(&martlet_forks, 1, __ATOMIC_RELAXED);
    forking = working = 0;
    martlet_close_copies();
}

static void watch(void) { pthread_atfork(prepare, go_on, begin_child); }

void martlet_count_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}
