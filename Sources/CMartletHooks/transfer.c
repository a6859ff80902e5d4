#define _GNU_SOURCE
#include "transfer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// The ABI of libcurl, which never changes (curl.h): kinds of information, options, and the list of strings.
enum { STRING = 0x100000, LONG = 0x200000, OFF_T = 0x600000 };
enum {
    EFFECTIVE_URL = STRING + 1,
    PRIMARY_IP = STRING + 32,
    NUM_CONNECTS = LONG + 26,
    PRIMARY_PORT = LONG + 40,
    HTTP_VERSION = LONG + 46,
    SIZE_UPLOAD_T = OFF_T + 7,
    SIZE_DOWNLOAD_T = OFF_T + 8,
    TOTAL_TIME_T = OFF_T + 50,
    NAMELOOKUP_TIME_T = OFF_T + 51,
    CONNECT_TIME_T = OFF_T + 52,
    PRETRANSFER_TIME_T = OFF_T + 53,
    STARTTRANSFER_TIME_T = OFF_T + 54,
    APPCONNECT_TIME_T = OFF_T + 56,
};
enum { PREREQFUNCTION = 20000 + 312, PREREQDATA = 10000 + 313 };
enum { VERBOSE = 41, DEBUGFUNCTION = 20000 + 94, DEBUGDATA = 10000 + 95, HEADER_IN = 1 };

struct string_list {
    char *text;
    struct string_list *next;
};

static int (*get_info)(void *easy, int info, ...);
static int (*set_option)(void *easy, int option, ...);
static void *(*append)(void *list, const char *text);

// Returns the library that contains the address; NULL if that is the program itself.
static void *library_with(const void *address) {
    Dl_info info;
    if (!address || !dladdr(address, &info) || !info.dli_fname) return NULL;
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

// Finds a function. If a program has two libcurls, handles of one must not be passed to the other.
static bool find(void *library, const char *name, void *function) {
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found || (library && dlsym(library, name) != found)) return false;
    memcpy(function, &found, sizeof found);
    return true;
}

static bool forget(void) {
    get_info = NULL, set_option = NULL, append = NULL;
    return false;
}

bool martlet_find_libcurl(const void *foundation) {
    void *library = library_with(foundation);
    bool is_found = find(library, "curl_easy_getinfo", &get_info) && find(library, "curl_easy_setopt", &set_option) &&
                    find(library, "curl_slist_append", &append);
    if (library) dlclose(library);
    return is_found || forget();
}

bool martlet_read_transfer(void *easy, struct martlet_transfer *transfer) {
    struct martlet_transfer read = {0};
    long connections = 0;
    if (!easy || !get_info || get_info(easy, TOTAL_TIME_T, &read.total) != 0) return false;
    get_info(easy, NAMELOOKUP_TIME_T, &read.name_lookup);
    get_info(easy, CONNECT_TIME_T, &read.connect);
    get_info(easy, APPCONNECT_TIME_T, &read.tls);
    get_info(easy, PRETRANSFER_TIME_T, &read.ready);
    get_info(easy, STARTTRANSFER_TIME_T, &read.first_byte);
    get_info(easy, SIZE_UPLOAD_T, &read.bytes_sent);
    get_info(easy, SIZE_DOWNLOAD_T, &read.bytes_received);
    get_info(easy, NUM_CONNECTS, &connections);
    read.connections = connections;
    *transfer = read;
    return true;
}

bool martlet_read_sizes(void *easy, struct martlet_transfer *transfer) {
    if (!easy || !get_info || get_info(easy, SIZE_UPLOAD_T, &transfer->bytes_sent) != 0) return false;
    return get_info(easy, SIZE_DOWNLOAD_T, &transfer->bytes_received) == 0;
}

int64_t martlet_http_version(void *easy) {
    long version = 0;
    return easy && get_info && get_info(easy, HTTP_VERSION, &version) == 0 ? version : 0;
}

const char *martlet_url(void *easy) {
    const char *url = NULL;
    return easy && get_info && get_info(easy, EFFECTIVE_URL, &url) == 0 ? url : NULL;
}

const char *martlet_peer(void *easy, int64_t *port) {
    long number = 0;
    const char *address = NULL;
    if (!easy || !get_info || get_info(easy, PRIMARY_IP, &address) != 0 || !address || !*address) return NULL;
    get_info(easy, PRIMARY_PORT, &number);
    *port = number;
    return address;
}

bool martlet_set_before_request(void *easy, martlet_before_request callback, void *context) {
    return easy && set_option && set_option(easy, PREREQDATA, context) == 0 &&
           set_option(easy, PREREQFUNCTION, callback) == 0;
}

static _Atomic(martlet_head) at_head;

// Receives one line at a time from libcurl. Calls of other kinds may come even after the context is gone.
static int debug(void *easy, int kind, char *text, size_t count, void *context) {
    if (kind != HEADER_IN || count < sizeof "HTTP/2 200" - 1 || memcmp(text, "HTTP/", 5) != 0) return 0;
    const char *status = memchr(text, ' ', count - 1);
    if (!status || status[1] == '1') return 0;
    martlet_cancel_head(easy);
    martlet_head call = at_head;
    if (call && context) call(context);
    return 0;
}

// Verbose is set last: without a callback, libcurl writes to standard error.
bool martlet_call_at_head(void *easy, martlet_head callback, void *context) {
    at_head = callback;
    return easy && set_option && set_option(easy, DEBUGDATA, context) == 0 &&
           set_option(easy, DEBUGFUNCTION, debug) == 0 && set_option(easy, VERBOSE, 1L) == 0;
}

void martlet_cancel_head(void *easy) {
    if (easy && set_option) set_option(easy, VERBOSE, 0L);
}

static bool has(const struct string_list *headers, const char *name) {
    size_t length = strlen(name);
    for (; headers; headers = headers->next) {
        const char *text = headers->text;
        if (text && (*text | 0x20) == *name && strncasecmp(text, name, length) == 0 && (text[length] == ':' || text[length] == ';')) return true;
    }
    return false;
}

// `snprintf` would be most of the cost of tracing a request.
static char *put_hexadecimal(char *text, uint64_t value, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) *text++ = "0123456789abcdef"[value >> shift & 15];
    return text;
}

bool martlet_add_trace_headers(
    void *headers, uint64_t trace_high, uint64_t trace_low, uint64_t span, bool sampled, const char *trace_state) {
    if (!headers || !append || has(headers, "traceparent")) return false;
    char line[80] = "traceparent: 00-";
    char *end = put_hexadecimal(line + strlen(line), trace_high, 16);
    end = put_hexadecimal(end, trace_low, 16);
    *end++ = '-';
    end = put_hexadecimal(end, span, 16);
    *end++ = '-';
    *put_hexadecimal(end, sampled ? 1 : 0, 2) = 0;
    // Appending copies the text. It fails only if there is no memory, and leaves the list unchanged then.
    if (!append(headers, line)) return false;
    // W3C Trace Context, section 3.3.1.5: at least 512 characters must be passed on, longer values need not be.
    char state[512 + sizeof "tracestate: "];
    if (!trace_state || strlen(trace_state) > 512 || has(headers, "tracestate")) return true;
    snprintf(state, sizeof state, "tracestate: %s", trace_state);
    append(headers, state);
    return true;
}
