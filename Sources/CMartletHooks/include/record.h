#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The record of a process: what it was doing and how it stood, in a mapped file that outlives it (docs/internals/crashes.md).
// The next process of the service reads it. Numbers are in the machine's byte order, because it is read on the host that wrote it.

enum {
    MARTLET_RECORD_SLOTS = 1024,
    MARTLET_RECORD_TEXT = 112,
    MARTLET_RECORD_FRAMES = 64,
    MARTLET_RECORD_BUILD = 32,
};

// The text "MARTLR01". The last two characters are the version of the format.
static const uint64_t martlet_record_magic = 0x3130524C5452414D;

// A request in flight.
struct martlet_slot {
    // When the request began, by the wall clock in nanoseconds; 0 if the slot is free, 1 while it is written.
    uint64_t begin;
    uint8_t flags;
    uint8_t length;
    uint8_t unused[6];
    // Its method, a space, and what names its endpoint. Not terminated.
    uint8_t text[MARTLET_RECORD_TEXT];
};

// The flags of a slot.
enum { MARTLET_SLOT_SERVED = 1, MARTLET_SLOT_ROUTE = 2 };

// What a signal handler knows of a crash.
struct martlet_crash {
    // The number of the thread that has written the rest; 0 for none.
    uint32_t thread;
    int32_t signal;
    int32_t code;
    uint32_t frame_count;
    uint64_t time;
    uint64_t pc;
    uint64_t address;
    // Return addresses, the innermost first; the first is `pc`.
    uint64_t frames[MARTLET_RECORD_FRAMES];
};

// The head of the file. Times are in nanoseconds by the wall clock; 0 if the event has not happened.
struct martlet_record {
    // Written last. A file without it is not whole.
    uint64_t magic;
    uint64_t pid;
    // The kernel's start of the process, in nanoseconds since the boot.
    uint64_t process_start;
    uint64_t start;
    // Where the main program is loaded, and the end of its code.
    uint64_t image_base;
    uint64_t image_end;
    uint32_t build_length;
    uint8_t build[MARTLET_RECORD_BUILD];
    char boot[40];

    uint64_t stop_begun;
    uint64_t exited;
    // The sequence of the batch that reports the end; 0 for none.
    uint64_t report_sequence;
    // The number of processes that have begun to look for the places of the crash.
    uint64_t looked;

    uint64_t beat;
    uint64_t memory;
    uint64_t memory_limit;
    uint64_t oom_kills;
    // Requests that found no free slot.
    uint64_t full;
    // When SIGTERM came, if a service group with the agent handled it.
    uint64_t asked;
};

// The parts of the file: the head on the first page, the crash on the second, then the slots.
enum {
    MARTLET_RECORD_CRASH = 4096,
    MARTLET_RECORD_FIRST_SLOT = 8192,
    MARTLET_RECORD_BYTES = MARTLET_RECORD_FIRST_SLOT + 128 * MARTLET_RECORD_SLOTS,
};

// Maps an open file of the record's size, all zeroes. Requests and crashes of this process go there from now on. All records of
// a process use one range of addresses, so that a thread can always write to it. Returns the record's number; 0 if it cannot
// be mapped. The caller fills in the head, and then calls martlet_begin_record. The threads that open and close records take turns.
uint32_t martlet_open_record(int descriptor);

// Returns the record of a number while it is in use; NULL after that, and in a forked child.
struct martlet_record *martlet_record(uint32_t number);

// Ends the use of a record. Later writes of other threads go nowhere.
void martlet_close_record(uint32_t number);

// Ends the use of the parent's record. For a forked child.
void martlet_forget_record(void);

// Writes what the process knows of itself (its number, the main program's addresses and build id), and the magic last.
void martlet_begin_record(struct martlet_record *record);

// Returns whether requests of this process go into a record. Any thread.
bool martlet_keeps_record(void);

// Notes the begin of a request: no system call, no lock, except at a thread's first request, which gives the thread an
// alternate stack if crashes are watched. `begin` must be greater than 1. Returns the slot's number; 0 if there is no record,
// or no slot is free. Any thread.
uint32_t martlet_begin_request(uint8_t flags, const uint8_t *text, size_t length, uint64_t begin);

// Changes the text and the flags of a request in flight. Only one thread at a time may change a request.
void martlet_name_request(uint32_t slot, uint64_t begin, uint8_t flags, const uint8_t *text, size_t length);

// Notes the end of a request that began in this process. Any thread.
void martlet_end_request(uint32_t slot, uint64_t begin);

// Writes down crashes of this process from now on (SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV, SIGBUS), and that it ended by
// exit(3). A signal's former handler runs after that, or the signal's default action, so that the process ends as it would
// have ended without this. Call it from `main`, not from a constructor: Swift's runtime sets its own handlers before `main`.
// Later calls change nothing.
void martlet_watch_crashes(void);

// Writes down that the shutdown has begun, on the caller's thread: the process may exit before the agent's thread has begun it.
void martlet_note_stop(void);

// Writes down that SIGTERM has come. Any thread.
void martlet_note_asked(void);

// Returns whether the process has a handler of a signal.
bool martlet_handles(int signal);
