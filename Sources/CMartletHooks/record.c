#define _GNU_SOURCE
#include "record.h"

#include "process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAS_BACKTRACE 1
#endif

// Slots that a request looks at, and slots between the first looks of two threads.
enum { LOOKS = 256, STRIDE = 16 };
// Bytes of an alternate stack: a signal's frame may take more than 8 KiB, and the handlers before ours need room too.
enum { STACK = 64 << 10 };
// A process that is alive this long after a crash has survived it (EndedRecord.swift). In nanoseconds.
#define SURVIVED UINT64_C(30000000000)

_Static_assert(sizeof(struct martlet_slot) == 128, "a slot is 128 bytes");
_Static_assert(sizeof(struct martlet_record) <= MARTLET_RECORD_CRASH, "the head fits its page");
_Static_assert(sizeof(struct martlet_crash) <= MARTLET_RECORD_FIRST_SLOT - MARTLET_RECORD_CRASH, "a crash fits its page");

// The range of addresses of all records of this process.
static struct martlet_record *place;
static uint32_t place_process;
// `place` while a record is in use.
static struct martlet_record *current;
static uint32_t current_process, number;
static pid_t current_pid;

static struct martlet_record *own(void) {
    struct martlet_record *record = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    return record && __atomic_load_n(&current_process, __ATOMIC_RELAXED) == martlet_process() ? record : NULL;
}

static struct martlet_crash *crash_of(struct martlet_record *record) {
    return (struct martlet_crash *)((char *)record + MARTLET_RECORD_CRASH);
}

static struct martlet_slot *slots_of(struct martlet_record *record) {
    return (struct martlet_slot *)((char *)record + MARTLET_RECORD_FIRST_SLOT);
}

// MARK: The file

static bool clear_place(void) {
    int fixed = place ? MAP_FIXED : 0;
    void *range =
        mmap(place, MARTLET_RECORD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (range == MAP_FAILED) return false;
    place = range;
    return true;
}

uint32_t martlet_open_record(int descriptor) {
    martlet_forget_record();
    if (place_process != martlet_process()) {
        // A forked child has nothing at the parent's range, or something else.
        place = NULL;
        place_process = martlet_process();
    }
    if (!place && !clear_place()) return 0;
    void *memory = mmap(
        place, MARTLET_RECORD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, descriptor, 0);
    if (memory == MAP_FAILED) {
        (void)clear_place();
        return 0;
    }
    // A forked child writes to its own record.
    madvise(memory, MARTLET_RECORD_BYTES, MADV_DONTFORK);
    __atomic_store_n(&current_process, martlet_process(), __ATOMIC_RELAXED);
    current_pid = getpid();
    __atomic_store_n(&current, place, __ATOMIC_RELEASE);
    return __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
}

struct martlet_record *martlet_record(uint32_t wanted) {
    return wanted == __atomic_load_n(&number, __ATOMIC_RELAXED) ? own() : NULL;
}

void martlet_close_record(uint32_t wanted) {
    if (!martlet_record(wanted)) return;
    martlet_forget_record();
    // The range stays, because another thread may be writing to it.
    (void)clear_place();
}

bool martlet_keeps_record(void) { return own() != NULL; }

void martlet_forget_record(void) { __atomic_store_n(&current, NULL, __ATOMIC_RELEASE); }

// MARK: The main program

struct image {
    uint64_t base, end;
    uint32_t build_length;
    uint8_t build[MARTLET_RECORD_BUILD];
};

static void read_notes(struct image *image, const char *notes, size_t size) {
    for (size_t offset = 0; offset + sizeof(ElfW(Nhdr)) <= size;) {
        const ElfW(Nhdr) *note = (const void *)(notes + offset);
        size_t name = offset + sizeof *note, build = name + ((note->n_namesz + 3) & ~(size_t)3);
        if (build + note->n_descsz > size) return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
            image->build_length = note->n_descsz < MARTLET_RECORD_BUILD ? note->n_descsz : MARTLET_RECORD_BUILD;
            memcpy(image->build, notes + build, image->build_length);
            return;
        }
        offset = build + ((note->n_descsz + 3) & ~(size_t)3);
    }
}

// The main program comes first (dl_iterate_phdr(3)).
static int read_image(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size;
    struct image *image = result;
    image->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) image->end = begin + part->p_memsz;
        if (part->p_type == PT_NOTE && !image->build_length) read_notes(image, (const char *)begin, part->p_memsz);
    }
    return 1;
}

static struct image main_program(void) {
    struct image image = {0};
    dl_iterate_phdr(read_image, &image);
    return image;
}

void martlet_begin_record(struct martlet_record *record) {
    struct image image = main_program();
    record->pid = (uint64_t)getpid();
    record->image_base = image.base;
    record->image_end = image.end;
    record->build_length = image.build_length;
    memcpy(record->build, image.build, sizeof record->build);
    __atomic_store_n(&record->magic, martlet_record_magic, __ATOMIC_RELEASE);
}

// MARK: Alternate stacks

static uint32_t is_watching;
static pthread_key_t stack_key;
static __thread bool has_looked_for_stack;

static void free_stack(void *stack) {
    stack_t now;
    // The service may have set another since.
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == stack) {
        stack_t none = {.ss_flags = SS_DISABLE};
        sigaltstack(&none, NULL);
    }
    munmap(stack, STACK);
}

// Gives the thread an alternate stack, without which an overflow of its stack ends the process before any handler runs.
static __attribute__((noinline, cold)) void make_stack(void) {
    has_looked_for_stack = true;
    int error = errno;
    stack_t stack;
    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE)) {
        void *memory = mmap(
            NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory != MAP_FAILED) {
            stack = (stack_t){.ss_sp = memory, .ss_size = STACK};
            if (pthread_setspecific(stack_key, memory) != 0 || sigaltstack(&stack, NULL) != 0) {
                pthread_setspecific(stack_key, NULL);
                munmap(memory, STACK);
            }
        }
    }
    errno = error;
}

static inline void prepare_thread(void) {
    if (!has_looked_for_stack && __atomic_load_n(&is_watching, __ATOMIC_ACQUIRE)) make_stack();
}

// MARK: Requests in flight

static uint32_t next_thread;
// Where the thread found its last slot. A thread with few requests at a time stays there, so that it shares no cache line with
// another; one with many goes on.
static __thread uint32_t last_found = UINT32_MAX;

static void write_text(struct martlet_slot *slot, uint8_t flags, const uint8_t *text, size_t length) {
    slot->flags = flags;
    slot->length = (uint8_t)(length < MARTLET_RECORD_TEXT ? length : MARTLET_RECORD_TEXT);
    if (slot->length) memcpy(slot->text, text, slot->length);
}

uint32_t martlet_begin_request(uint8_t flags, const uint8_t *text, size_t length, uint64_t begin) {
    struct martlet_record *record = own();
    if (!record) return 0;
    prepare_thread();
    if (last_found == UINT32_MAX) last_found = __atomic_fetch_add(&next_thread, STRIDE, __ATOMIC_RELAXED);
    uint32_t first = last_found;
    for (uint32_t look = 0; look < LOOKS; look++) {
        uint32_t index = (first + look) % MARTLET_RECORD_SLOTS;
        struct martlet_slot *slot = &slots_of(record)[index];
        uint64_t empty = 0;
        if (__atomic_load_n(&slot->begin, __ATOMIC_RELAXED) != 0) continue;
        if (!__atomic_compare_exchange_n(&slot->begin, &empty, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) continue;
        write_text(slot, flags, text, length);
        __atomic_store_n(&slot->begin, begin, __ATOMIC_RELEASE);
        last_found = index;
        return index + 1;
    }
    __atomic_fetch_add(&record->full, 1, __ATOMIC_RELAXED);
    return 0;
}

// Returns the slot of a request that is still in flight. An earlier agent of this process may have had the number.
static struct martlet_slot *slot_of(uint32_t number, uint64_t begin) {
    struct martlet_record *record = number ? own() : NULL;
    struct martlet_slot *slot = record ? &slots_of(record)[(number - 1) % MARTLET_RECORD_SLOTS] : NULL;
    return slot && __atomic_load_n(&slot->begin, __ATOMIC_RELAXED) == begin ? slot : NULL;
}

void martlet_name_request(uint32_t number, uint64_t begin, uint8_t flags, const uint8_t *text, size_t length) {
    struct martlet_slot *slot = slot_of(number, begin);
    if (!slot) return;
    __atomic_store_n(&slot->begin, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    write_text(slot, flags, text, length);
    __atomic_store_n(&slot->begin, begin, __ATOMIC_RELEASE);
}

void martlet_end_request(uint32_t number, uint64_t begin) {
    struct martlet_slot *slot = slot_of(number, begin);
    if (slot) __atomic_store_n(&slot->begin, 0, __ATOMIC_RELEASE);
}

// MARK: Crashes

static const int watched[] = {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV, SIGBUS};
enum { WATCHED = sizeof watched / sizeof *watched };
static struct sigaction former[WATCHED];

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

// The frames from the one that crashed on. Without them, the first is known all the same.
static void write_frames(struct martlet_crash *crash) {
#ifdef HAS_BACKTRACE
    void *all[MARTLET_RECORD_FRAMES];
    int count = backtrace(all, MARTLET_RECORD_FRAMES);
    uint32_t kept = 0;
    bool is_past_handler = false;
    for (int i = 0; i < count; i++) {
        is_past_handler = is_past_handler || (uint64_t)all[i] == crash->pc;
        if (is_past_handler) crash->frames[kept++] = (uint64_t)all[i];
    }
    if (kept) __atomic_store_n(&crash->frame_count, kept, __ATOMIC_RELEASE);
#else
    (void)crash;
#endif
}

// Takes the page for the calling thread. The first crash counts. If the handler itself crashes, the page is taken already.
static bool take(struct martlet_crash *crash, uint32_t thread) {
    uint32_t holder = __atomic_load_n(&crash->thread, __ATOMIC_ACQUIRE);
    if (holder && now() - crash->time < SURVIVED) return false;
    return __atomic_compare_exchange_n(&crash->thread, &holder, thread, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// What is certain comes first, and then the frames, for which a damaged stack may have to be read.
static void write_crash(int signal, const siginfo_t *info, const ucontext_t *context) {
    struct martlet_record *record = own();
    if (!record || getpid() != current_pid) return;
    struct martlet_crash *crash = crash_of(record);
    if (!take(crash, (uint32_t)syscall(SYS_gettid))) return;
    crash->time = now();
    crash->code = info->si_code;
    crash->address = (uint64_t)info->si_addr;
    crash->pc = crash->frames[0] = program_counter(context);
    crash->frame_count = 1;
    __atomic_store_n(&crash->signal, signal, __ATOMIC_RELEASE);
    write_frames(crash);
}

// Does what would have happened without this handler: the former one is in its place again, and gets the signal now. A
// fault comes again by itself when the handler returns; a signal that was sent has to be sent again.
static void pass_on(int signal, siginfo_t *info, void *context) {
    const struct sigaction *before = NULL;
    for (int i = 0; i < WATCHED; i++)
        if (watched[i] == signal) before = &former[i];
    if (!before) return;
    sigaction(signal, before, NULL);
    if (before->sa_flags & SA_SIGINFO) return before->sa_sigaction(signal, info, context);
    if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) return before->sa_handler(signal);
    if (info->si_code <= 0) raise(signal);
}

static void handle(int signal, siginfo_t *info, void *context) {
    int error = errno;
    write_crash(signal, info, context);
    errno = error;
    pass_on(signal, info, context);
}

static void note_exit(void) {
    struct martlet_record *record = own();
    if (record && getpid() == current_pid) __atomic_store_n(&record->exited, now(), __ATOMIC_RELEASE);
}

void martlet_note_stop(void) {
    struct martlet_record *record = own();
    if (record) __atomic_store_n(&record->stop_begun, now(), __ATOMIC_RELEASE);
}

void martlet_note_asked(void) {
    struct martlet_record *record = own();
    if (record) __atomic_store_n(&record->asked, now(), __ATOMIC_RELEASE);
}

bool martlet_handles(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

static void watch(void) {
    if (pthread_key_create(&stack_key, free_stack) != 0) return;
#ifdef HAS_BACKTRACE
    // The first call loads a library.
    void *frames[2];
    backtrace(frames, 2);
#endif
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigfillset(&action.sa_mask);
    for (int i = 0; i < WATCHED; i++) sigdelset(&action.sa_mask, watched[i]);
    for (int i = 0; i < WATCHED; i++) sigaction(watched[i], NULL, &former[i]);
    for (int i = 0; i < WATCHED; i++) sigaction(watched[i], &action, NULL);
    __atomic_store_n(&is_watching, 1, __ATOMIC_RELEASE);
    atexit(note_exit);
}

void martlet_watch_crashes(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
    prepare_thread();
}
#else
uint32_t martlet_open_record(int descriptor) {
    (void)descriptor;
    return 0;
}
struct martlet_record *martlet_record(uint32_t number) {
    (void)number;
    return NULL;
}
void martlet_close_record(uint32_t number) { (void)number; }
void martlet_forget_record(void) {}
bool martlet_keeps_record(void) { return false; }
void martlet_begin_record(struct martlet_record *record) { (void)record; }
uint32_t martlet_begin_request(uint8_t flags, const uint8_t *text, size_t length, uint64_t begin) {
    (void)flags, (void)text, (void)length, (void)begin;
    return 0;
}
void martlet_name_request(uint32_t slot, uint64_t begin, uint8_t flags, const uint8_t *text, size_t length) {
    (void)slot, (void)begin, (void)flags, (void)text, (void)length;
}
void martlet_end_request(uint32_t slot, uint64_t begin) { (void)slot, (void)begin; }
void martlet_watch_crashes(void) {}
void martlet_note_stop(void) {}
void martlet_note_asked(void) {}
bool martlet_handles(int signal) {
    (void)signal;
    return false;
}
#endif
