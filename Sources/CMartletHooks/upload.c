#define _GNU_SOURCE
#include "upload.h"

#include "descriptors.h"
#include "process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

// The ABI of libcurl, which never changes (curl.h, multi.h).
enum { OPT_LONG = 0, OPT_OBJECT = 10000, OPT_FUNCTION = 20000, OPT_OFF_T = 30000 };
enum {
    POST = OPT_LONG + 47,
    NO_SIGNAL = OPT_LONG + 99,
    TIMEOUT_MS = OPT_LONG + 155,
    PROTOCOLS = OPT_LONG + 181,
    NO_TUNNEL_HEADERS = OPT_LONG + 265,
    AUTHORITIES_KEPT_SECONDS = OPT_LONG + 321,
    QUICK_EXIT = OPT_LONG + 322,
    WRITE_DATA = OPT_OBJECT + 1,
    CLIENT_CERTIFICATE = OPT_OBJECT + 25,
    KEY_PASSPHRASE = OPT_OBJECT + 26,
    AUTHORITIES = OPT_OBJECT + 65,
    CLIENT_KEY = OPT_OBJECT + 87,
    AUTHORITIES_FOLDER = OPT_OBJECT + 97,
    URL = OPT_OBJECT + 2,
    PROXY = OPT_OBJECT + 4,
    ERROR_BUFFER = OPT_OBJECT + 10,
    HTTP_HEADER = OPT_OBJECT + 23,
    HEADER_DATA = OPT_OBJECT + 29,
    COPY_POST_FIELDS = OPT_OBJECT + 165,
    HOSTS_WITHOUT_PROXY = OPT_OBJECT + 177,
    WRITE_FUNCTION = OPT_FUNCTION + 11,
    HEADER_FUNCTION = OPT_FUNCTION + 79,
    OPEN_SOCKET_FUNCTION = OPT_FUNCTION + 163,
    CLOSE_SOCKET_FUNCTION = OPT_FUNCTION + 208,
    POST_FIELD_SIZE = OPT_OFF_T + 120,
};
enum { RESPONSE_CODE = 0x200000 + 2, REQUEST_SIZE = 0x200000 + 12, TUNNEL_CODE = 0x200000 + 22 };
enum { HTTP_AND_HTTPS = 1 | 2, MESSAGE_DONE = 1, ERROR_SIZE = 256 };

struct message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

static struct {
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *easy);
    void (*easy_reset)(void *easy);
    int (*set_option)(void *easy, int option, ...);
    int (*get_info)(void *easy, int info, ...);
    const char *(*describe)(int result);
    void *(*append)(void *list, const char *text);
    void (*free_list)(void *list);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *multi);
    int (*add)(void *multi, void *easy);
    int (*remove)(void *multi, void *easy);
    int (*perform)(void *multi, int *running);
    int (*poll)(void *multi, void *descriptors, unsigned count, int milliseconds, int *ready);
    struct message *(*read_message)(void *multi, int *left);
} curl;

struct martlet_uploader {
    void *multi;
    void *easy;
    void *headers;
    // The paths by enum martlet_file. If a path was set to NULL, no file is used.
    char *files[MARTLET_FILE_KINDS];
    bool is_file_set[MARTLET_FILE_KINDS];
    bool is_begun;
    // Whether the empty line after the last head has come. An answer that ends before it does not count.
    bool has_head;
    long status;
    char retry_after[64];
    char rejected_requests[32];
    char store[65];
    char content_type[128];
    // Whether any byte of the request was sent, over any of the connections that libcurl tried.
    bool is_sent;
    char error[ERROR_SIZE];
    size_t body_length;
    uint8_t body[64 << 10];
};

static bool find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool look_up(void) {
    void *all = RTLD_DEFAULT;
    return find(all, "curl_easy_init", &curl.easy_init) && find(all, "curl_easy_cleanup", &curl.easy_cleanup) &&
           find(all, "curl_easy_reset", &curl.easy_reset) && find(all, "curl_easy_setopt", &curl.set_option) &&
           find(all, "curl_easy_getinfo", &curl.get_info) && find(all, "curl_easy_strerror", &curl.describe) &&
           find(all, "curl_slist_append", &curl.append) && find(all, "curl_slist_free_all", &curl.free_list) &&
           find(all, "curl_multi_init", &curl.multi_init) && find(all, "curl_multi_cleanup", &curl.multi_cleanup) &&
           find(all, "curl_multi_add_handle", &curl.add) && find(all, "curl_multi_remove_handle", &curl.remove) &&
           find(all, "curl_multi_perform", &curl.perform) && find(all, "curl_multi_poll", &curl.poll) &&
           find(all, "curl_multi_info_read", &curl.read_message);
}

martlet_uploader *martlet_uploader_create(void) {
    if (!look_up()) return NULL;
    martlet_uploader *uploader = calloc(1, sizeof *uploader);
    if (!uploader) return NULL;
    return uploader;
}

// Makes a multi handle, which has descriptors. If the service has closed its standard input, output or error, they must not
// take these numbers.
static void *make_multi(void) {
    int held[STDERR_FILENO + 1], count = 0;
    for (int number = 0; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) < 0) held[count++] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    void *multi = curl.multi_init();
    while (count > 0) close(held[--count]);
    return multi;
}

static bool wake(martlet_uploader *uploader) {
    if (!uploader->multi) uploader->multi = make_multi();
    if (!uploader->easy) uploader->easy = curl.easy_init();
    return uploader->multi && uploader->easy;
}

void martlet_uploader_rest(martlet_uploader *uploader) {
    martlet_upload_end(uploader);
    if (uploader->easy) curl.easy_cleanup(uploader->easy);
    if (uploader->multi) curl.multi_cleanup(uploader->multi);
    uploader->easy = uploader->multi = NULL;
}

void martlet_uploader_destroy(martlet_uploader *uploader) {
    if (!uploader) return;
    martlet_uploader_rest(uploader);
    for (int kind = 0; kind < MARTLET_FILE_KINDS; kind++) free(uploader->files[kind]);
    free(uploader);
}

void martlet_uploader_set_file(martlet_uploader *uploader, enum martlet_file kind, const char *path) {
    free(uploader->files[kind]);
    uploader->files[kind] = path ? strdup(path) : NULL;
    uploader->is_file_set[kind] = true;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    martlet_uploader *uploader = context;
    size_t length = size * count, room = sizeof uploader->body - uploader->body_length;
    size_t taken = length < room ? length : room;
    memcpy(uploader->body + uploader->body_length, bytes, taken);
    uploader->body_length += taken;
    return length;
}

// Copies the value of a line without surrounding blanks, if the line has that name.
static void take_value(const char *line, size_t length, const char *name, char *value, size_t room) {
    size_t begin = strlen(name);
    if (length <= begin || line[begin] != ':' || strncasecmp(line, name, begin) != 0) return;
    for (begin++; begin < length && (line[begin] == ' ' || line[begin] == '\t'); begin++) {}
    while (length > begin && strchr("\r\n \t", line[length - 1])) length--;
    if (length - begin >= room) return;
    memcpy(value, line + begin, length - begin);
    value[length - begin] = 0;
}

static size_t take_header(char *line, size_t size, size_t count, void *context) {
    martlet_uploader *uploader = context;
    size_t length = size * count;
    if (length >= 5 && strncmp(line, "HTTP/", 5) == 0) {
        // A new head begins: the values of a provisional one no longer count.
        uploader->has_head = false;
        uploader->retry_after[0] = uploader->rejected_requests[0] = uploader->store[0] = uploader->content_type[0] = 0;
    }
    if (length > 0 && (line[0] == '\r' || line[0] == '\n')) uploader->has_head = true;
    take_value(line, length, "Retry-After", uploader->retry_after, sizeof uploader->retry_after);
    take_value(
        line, length, "Martlet-Rejected-Requests", uploader->rejected_requests, sizeof uploader->rejected_requests);
    take_value(line, length, "Martlet-Store", uploader->store, sizeof uploader->store);
    take_value(line, length, "Content-Type", uploader->content_type, sizeof uploader->content_type);
    return length;
}

static bool fail(martlet_uploader *uploader, const char *why) {
    if (!uploader->error[0]) strncpy(uploader->error, why, ERROR_SIZE - 1);
    return false;
}

static bool set_files(martlet_uploader *uploader) {
    static const int options[MARTLET_FILE_KINDS] = {
        [MARTLET_AUTHORITIES] = AUTHORITIES,
        [MARTLET_AUTHORITIES_DIRECTORY] = AUTHORITIES_FOLDER,
        [MARTLET_CLIENT_CERTIFICATE] = CLIENT_CERTIFICATE,
        [MARTLET_CLIENT_KEY] = CLIENT_KEY,
    };
    for (int kind = 0; kind < MARTLET_FILE_KINDS; kind++) {
        if (!uploader->is_file_set[kind]) continue;
        if (curl.set_option(uploader->easy, options[kind], uploader->files[kind]) != 0) return false;
    }
    // libcurl has the option from 7.87. Without it, a replaced file is not reread for a day.
    if (uploader->files[MARTLET_AUTHORITIES]) curl.set_option(uploader->easy, AUTHORITIES_KEPT_SECONDS, 0L);
    // Without a passphrase, OpenSSL would ask for one on the terminal.
    return !uploader->files[MARTLET_CLIENT_KEY] || curl.set_option(uploader->easy, KEY_PASSPHRASE, "") == 0;
}

// curl.h, struct curl_sockaddr; the address itself follows.
struct address {
    int family, type, protocol;
    unsigned length;
};

static int open_socket(void *context, int purpose, struct address *address) {
    (void)context, (void)purpose;
#ifdef SOCK_CLOEXEC
    int number = socket(address->family, address->type | SOCK_CLOEXEC, address->protocol);
#else
    int number = socket(address->family, address->type, address->protocol);
#endif
    number = martlet_above_standard(number);
    return number < 0 ? number : martlet_descriptor_of(number).number;
}

// The service may have closed the socket, and its number may now be a file of the service.
static int close_socket(void *context, int number) {
    (void)context;
    martlet_close_number(number);
    return 0;
}

// An empty proxy means none. Otherwise libcurl would take one from the environment.
static bool set_proxy(martlet_uploader *uploader, const char *proxy) {
    bool is_set = curl.set_option(uploader->easy, PROXY, proxy) == 0;
    // The caller has already compared the host with `no_proxy`.
    curl.set_option(uploader->easy, HOSTS_WITHOUT_PROXY, "");
    // The answer to CONNECT is the proxy's.
    curl.set_option(uploader->easy, NO_TUNNEL_HEADERS, 1L);
    // A libcurl that was built without proxies lacks the options.
    return is_set || !proxy[0];
}

static bool set_up(
    martlet_uploader *uploader, const char *url, const char *proxy, const uint8_t *body, size_t length,
    int64_t timeout_milliseconds) {
    void *easy = uploader->easy;
    curl.easy_reset(easy);
    // The error buffer is set before the other options, so that it receives their errors.
    curl.set_option(easy, ERROR_BUFFER, uploader->error);
    // libcurl has the option from 7.87. Without it, giving up waits for the thread that looks up a name.
    curl.set_option(easy, QUICK_EXIT, 1L);
    return curl.set_option(easy, URL, url) == 0 && curl.set_option(easy, POST, 1L) == 0 &&
           // The size is set first, because it determines how much is copied.
           curl.set_option(easy, POST_FIELD_SIZE, (int64_t)length) == 0 &&
           curl.set_option(easy, COPY_POST_FIELDS, body) == 0 &&
           curl.set_option(easy, HTTP_HEADER, uploader->headers) == 0 &&
           curl.set_option(easy, TIMEOUT_MS, (long)timeout_milliseconds) == 0 &&
           curl.set_option(easy, OPEN_SOCKET_FUNCTION, open_socket) == 0 &&
           curl.set_option(easy, CLOSE_SOCKET_FUNCTION, close_socket) == 0 &&
           // Resolving with a time-out would use SIGALRM, which belongs to the service.
           curl.set_option(easy, NO_SIGNAL, 1L) == 0 &&
           curl.set_option(easy, PROTOCOLS, (long)HTTP_AND_HTTPS) == 0 &&
           curl.set_option(easy, WRITE_FUNCTION, take_body) == 0 &&
           curl.set_option(easy, WRITE_DATA, uploader) == 0 &&
           curl.set_option(easy, HEADER_FUNCTION, take_header) == 0 &&
           curl.set_option(easy, HEADER_DATA, uploader) == 0 && set_files(uploader) && set_proxy(uploader, proxy);
}

bool martlet_upload_add_header(martlet_uploader *uploader, const char *line) {
    void *list = curl.append(uploader->headers, line);
    if (list) uploader->headers = list;
    return list != NULL;
}

bool martlet_upload_begin(
    martlet_uploader *uploader, const char *url, const char *proxy, const uint8_t *body, size_t length,
    int64_t timeout_milliseconds) {
    uploader->has_head = false;
    uploader->status = 0;
    uploader->body_length = 0;
    uploader->is_sent = false;
    uploader->retry_after[0] = uploader->rejected_requests[0] = uploader->store[0] = uploader->content_type[0] = 0;
    uploader->error[0] = 0;
    if (!wake(uploader)) return fail(uploader, "libcurl has no memory or no descriptors");
    if (!set_up(uploader, url, proxy, body, length, timeout_milliseconds)) {
        return fail(uploader, "libcurl does not take an option");
    }
    if (curl.add(uploader->multi, uploader->easy) != 0) return fail(uploader, "libcurl does not take the upload");
    uploader->is_begun = true;
    return true;
}

// Returns whether any byte of the request was sent. libcurl counts the request for a tunnel too, so a proxy that refused
// one is the exception.
static bool is_sent(void *easy) {
    long sent = 0, tunnel = 0;
    if (curl.get_info(easy, TUNNEL_CODE, &tunnel) == 0 && tunnel >= 300) return false;
    return curl.get_info(easy, REQUEST_SIZE, &sent) != 0 || sent > 0;
}

// Returns the state of the upload. It is running as long as libcurl has no message.
static enum martlet_upload_state result(martlet_uploader *uploader) {
    int left = 0;
    struct message *message;
    while ((message = curl.read_message(uploader->multi, &left))) {
        if (message->kind != MESSAGE_DONE) continue;
        int code = message->data.result;
        curl.get_info(uploader->easy, RESPONSE_CODE, &uploader->status);
        uploader->is_sent = is_sent(uploader->easy);
        // The status counts if its head has ended, even if the body was truncated. A provisional answer does not count.
        if (uploader->has_head && uploader->status >= 200) return MARTLET_UPLOAD_ANSWERED;
        fail(uploader, code == 0 ? "the answer ended within its head" : curl.describe(code));
        return MARTLET_UPLOAD_FAILED;
    }
    return MARTLET_UPLOAD_RUNNING;
}

enum martlet_upload_state martlet_upload_proceed(martlet_uploader *uploader, int milliseconds) {
    if (!uploader->is_begun) return MARTLET_UPLOAD_FAILED;
    int running = 0;
    if (curl.perform(uploader->multi, &running) != 0) {
        uploader->is_sent = true;
        fail(uploader, "libcurl cannot go on");
        return MARTLET_UPLOAD_FAILED;
    }
    enum martlet_upload_state state = result(uploader);
    if (state == MARTLET_UPLOAD_RUNNING) {
        martlet_end_work();
        curl.poll(uploader->multi, NULL, 0, milliseconds, NULL);
        martlet_begin_work();
    }
    return state;
}

void martlet_upload_end(martlet_uploader *uploader) {
    if (uploader->is_begun) curl.remove(uploader->multi, uploader->easy);
    uploader->is_begun = false;
    if (uploader->headers) {
        // The handle must not read the list any more.
        curl.set_option(uploader->easy, HTTP_HEADER, NULL);
        curl.free_list(uploader->headers);
        uploader->headers = NULL;
    }
}

long martlet_upload_status(const martlet_uploader *uploader) { return uploader->status; }

const char *martlet_upload_retry_after(const martlet_uploader *uploader) { return uploader->retry_after; }

const char *martlet_upload_rejected_requests(const martlet_uploader *uploader) { return uploader->rejected_requests; }

const char *martlet_upload_store(const martlet_uploader *uploader) { return uploader->store; }

const char *martlet_upload_content_type(const martlet_uploader *uploader) { return uploader->content_type; }

bool martlet_upload_is_sent(const martlet_uploader *uploader) { return uploader->is_sent; }

size_t martlet_upload_body_length(const martlet_uploader *uploader) { return uploader->body_length; }

void martlet_upload_copy_body(const martlet_uploader *uploader, uint8_t *bytes) {
    memcpy(bytes, uploader->body, uploader->body_length);
}

const char *martlet_upload_error(const martlet_uploader *uploader) { return uploader->error; }
