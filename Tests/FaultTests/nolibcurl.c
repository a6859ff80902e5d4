// Loaded ahead of the C library: libcurl is in the process and its functions are not found, as where it is linked
// statically.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

static void *(*find)(void *, const char *);

__attribute__((constructor)) static void find_the_real_one(void) {
    // The versions that glibc has had it under: since 2.34, and before on x86-64 and on arm64.
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (int i = 0; i < 3 && !find; i++) find = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
}

void *dlsym(void *library, const char *name) {
    if (!find) find_the_real_one();
    return strncmp(name, "curl_", 5) == 0 || !find ? NULL : find(library, name);
}
