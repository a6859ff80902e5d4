#pragma once

// Names the calling thread, for those who look at the process; 15 bytes at most.
void martlet_name_thread(const char *name);
