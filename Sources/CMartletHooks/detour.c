#define _GNU_SOURCE
#include "detour.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#if defined(__linux__)
#include <sys/un.h>
#include <unistd.h>

// The ABI of libcurl, which never changes (curl.h, urlapi.h).
enum {
    FORBID_REUSE = 75,
    OPENSOCKETFUNCTION = 20000 + 163,
    OPENSOCKETDATA = 10000 + 164,
    UNIX_SOCKET_PATH = 10000 + 231,
    CONNECT_TO = 10000 + 243,
    CURLU = 10000 + 282,
};
enum { URL_PART = 0, NON_SUPPORT_SCHEME = 1 << 3, BAD_SOCKET = -1 };

struct string_list {
    char *text;
    struct string_list *next;
};

// The address of a socket that libcurl is about to open. The callback may change the address.
struct socket_address {
    int family;
    int type;
    int protocol;
    unsigned int length;
    struct sockaddr address;
};

static int (*set_option)(void *easy, int option, ...);
static void *(*append)(void *list, const char *text);
static void (*free_list)(void *list);
static void *(*make_url)(void);
static int (*set_url)(void *url, int part, const char *text, unsigned int flags);
static void (*free_url)(void *url);

static bool find(const char *name, void *function) {
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
    return found;
}

bool martlet_find_detour_functions(void) {
    bool is_found = find("curl_easy_setopt", &set_option) && find("curl_slist_append", &append) &&
                    find("curl_slist_free_all", &free_list) && find("curl_url", &make_url) &&
                    find("curl_url_set", &set_url) && find("curl_url_cleanup", &free_url);
    if (!is_found) set_option = NULL, append = NULL, free_list = NULL, make_url = NULL;
    return is_found;
}

void *martlet_connect_to(void *easy, const char *entry) {
    void *list = easy && append ? append(NULL, entry) : NULL;
    if (list && set_option(easy, CONNECT_TO, list) == 0) return list;
    martlet_free_list(list);
    return NULL;
}

void martlet_free_list(void *list) {
    if (list && free_list) free_list(list);
}

void *martlet_load_instead(void *easy, const char *url) {
    void *parsed = easy && make_url ? make_url() : NULL;
    if (parsed && set_url(parsed, URL_PART, url, NON_SUPPORT_SCHEME) == 0 && set_option(easy, CURLU, parsed) == 0) return parsed;
    martlet_free_url(parsed);
    return NULL;
}

void martlet_free_url(void *url) {
    if (url && make_url) free_url(url);
}

// Makes a socket at an address that the kernel chooses, without a file (unix(7), "Autobind feature"), and makes that
// address the target.
static int bind_anywhere(struct socket_address *target) {
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    socklen_t length = sizeof own;
    int bound = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bound < 0) return -1;
    if (bind(bound, (struct sockaddr *)&own, sizeof(sa_family_t)) == 0 &&
        getsockname(bound, (struct sockaddr *)&own, &length) == 0 && length <= sizeof(struct sockaddr)) {
        memcpy(&target->address, &own, length);
        target->length = length;
        return bound;
    }
    close(bound);
    return -1;
}

static _Atomic(martlet_listening) at_listening;

static int open_local(void *context, int purpose, struct socket_address *target) {
    (void)purpose;
    martlet_listening listening = at_listening;
    int listener = bind_anywhere(target);
    if (listener < 0) return BAD_SOCKET;
    if (!listening || !context || listen(listener, 1) != 0) {
        close(listener);
        return BAD_SOCKET;
    }
    listening(context, listener);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

// A socket that connects to its own address is refused, because it does not listen.
static int open_refused(void *context, int purpose, struct socket_address *target) {
    (void)context, (void)purpose;
    return bind_anywhere(target);
}

// With the path of a socket, libcurl looks up no name and uses no proxy. The path itself is never used.
bool martlet_connect_locally(void *easy, martlet_listening listening, void *context) {
    if (listening) at_listening = listening;
    return easy && set_option && set_option(easy, UNIX_SOCKET_PATH, "martlet") == 0 &&
           set_option(easy, FORBID_REUSE, 1L) == 0 && set_option(easy, OPENSOCKETDATA, context) == 0 &&
           set_option(easy, OPENSOCKETFUNCTION, listening ? open_local : open_refused) == 0;
}

void martlet_end_detour(void *easy) {
    if (!easy || !set_option) return;
    set_option(easy, UNIX_SOCKET_PATH, NULL);
    set_option(easy, OPENSOCKETFUNCTION, NULL);
    set_option(easy, CONNECT_TO, NULL);
    set_option(easy, CURLU, NULL);
}

static bool is_named(const struct string_list *line, const char *name, size_t length) {
    const char *text = line->text;
    return text && strncasecmp(text, name, length) == 0 && (text[length] == ':' || text[length] == ';');
}

bool martlet_replace_header(void *headers, const char *name, const char *line) {
    if (!headers || !append || !append(headers, line)) return false;
    size_t length = strlen(name);
    struct string_list *first = NULL, *before = NULL;
    for (struct string_list *next, *one = headers; one; one = next) {
        next = one->next;
        if (!is_named(one, name, length)) {
            before = one;
        } else if (!first) {
            first = before = one;
        } else {
            // The new line is the last. Its text moves to the first line with this name, and all other lines with it
            // are removed.
            if (!next) {
                char *text = first->text;
                first->text = one->text;
                one->text = text;
            }
            before->next = next;
            one->next = NULL;
            free_list(one);
        }
    }
    return true;
}

int martlet_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

long martlet_send(int connection, const void *bytes, unsigned long count) {
    return send(connection, bytes, count, MSG_NOSIGNAL);
}

#else

bool martlet_find_detour_functions(void) { return false; }

void *martlet_connect_to(void *easy, const char *entry) {
    (void)easy, (void)entry;
    return NULL;
}

void martlet_free_list(void *list) { (void)list; }

void *martlet_load_instead(void *easy, const char *url) {
    (void)easy, (void)url;
    return NULL;
}

void martlet_free_url(void *url) { (void)url; }

bool martlet_connect_locally(void *easy, martlet_listening listening, void *context) {
    (void)easy, (void)listening, (void)context;
    return false;
}

void martlet_end_detour(void *easy) { (void)easy; }

bool martlet_replace_header(void *headers, const char *name, const char *line) {
    (void)headers, (void)name, (void)line;
    return false;
}

int martlet_accept(int listener) {
    (void)listener;
    return -1;
}

long martlet_send(int connection, const void *bytes, unsigned long count) {
    (void)connection, (void)bytes, (void)count;
    return -1;
}

#endif
