#pragma once
#include <stdbool.h>
#include <stdint.h>

// An open file of the agent. A service may close descriptors that it does not know (`closefrom`, a daemon's loop) and
// reuse their numbers, so a number does not identify a file.
struct martlet_descriptor {
    int number;
    uint64_t device;
    uint64_t inode;
};

// Moves a new file to a number from 3 on, closed when the process executes another program, and returns that number; -1 if
// that fails. A service may have closed its standard input, output or error, and its next open file shall get that number.
int martlet_above_standard(int number);

// Registers a new descriptor, so that a forked child closes its copy. Thread-safe.
struct martlet_descriptor martlet_descriptor_of(int number);

// Returns whether the number still refers to the file. Thread-safe.
bool martlet_is_ours(struct martlet_descriptor file);

// Closes the file if the number still refers to it, and forgets it. Call it once for each file. Thread-safe.
void martlet_close(struct martlet_descriptor file);

// Closes a file of which only the number is known, in the same way.
void martlet_close_number(int number);

// Closes all registered files. For a forked child.
void martlet_close_copies(void);
