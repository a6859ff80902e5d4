// Loaded before the C library. Hides every symbol that begins with "curl_" from dlsym, as in a process that links libcurl
// statically.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef void *(*look_up)(void *library, const char *name);

void *dlsym(void *library, const char *name) {
    static look_up next;
    // dlsym has had these versions: first one for x86-64 and one for arm64, and since glibc 2.34 a common one for both.
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    for (size_t i = 0; !next && i < sizeof versions / sizeof *versions; i++) {
        next = (look_up)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    }
    return strncmp(name, "curl_", 5) == 0 ? NULL : next(library, name);
}
