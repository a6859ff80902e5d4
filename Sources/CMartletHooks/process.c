#define _GNU_SOURCE
#include "process.h"

#include "descriptors.h"
#include "record.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST_WAIT = 20000, STEP = 100 };  // microseconds

static uint32_t first = 1, forks;
uint32_t *martlet_word = &first;
static uint32_t forking, working;

// Moves the word into memory that the kernel clears in every child, even one that runs no fork handlers: `_Fork`,
// `clone`.
static void move_word(void) {
#ifdef MADV_WIPEONFORK
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    *page = *martlet_word;
    if (madvise(page, size, MADV_WIPEONFORK) == 0) __atomic_store_n(&martlet_word, page, __ATOMIC_RELEASE);
    else munmap(page, size);
#endif
}

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

// Runs in the child, where only the thread that forked exists.
static void begin_child(void) {
    __atomic_store_n(martlet_word, 2 * ++forks + 1, __ATOMIC_RELAXED);
    forking = working = 0;
    martlet_close_copies();
    martlet_forget_record();
}

static void watch(void) {
    move_word();
    pthread_atfork(prepare, go_on, begin_child);
}

void martlet_count_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}
