#pragma once

// Names the calling thread, for people who look at the process; 15 bytes at most.
void martlet_name_thread(const char *name);

// Returns the processor that the calling thread runs on at this moment; any number if that is not known.
unsigned martlet_processor(void);
