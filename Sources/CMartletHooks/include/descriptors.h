#pragma once
#include <stdbool.h>
#include <stdint.h>

// Files of the agent's that are open. A service may close numbers that it does not know (`closefrom`, a daemon's loop) and
// use them again, so a number alone does not tell what is behind it.
struct martlet_descriptor {
    int number;
    uint64_t device;
    uint64_t inode;
};

// Takes note of a descriptor that was just made. A forked child closes its copy. Thread-safe.
struct martlet_descriptor martlet_descriptor_of(int number);

// Whether the number still stands for it. Thread-safe.
bool martlet_is_ours(struct martlet_descriptor file);

// Closes it if the number still stands for it, and forgets it. Once for each; thread-safe.
void martlet_close(struct martlet_descriptor file);

// The same for one of which only the number is known.
void martlet_close_number(int number);

// In a forked child: closes all that are ours.
void martlet_close_copies(void);
