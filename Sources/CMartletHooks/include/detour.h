#pragma once
#include <stdbool.h>

// Changes to one transfer of libcurl ahead of its start, for rules: another address, another URL, a socket of the caller's.

// Looks up the functions that only these changes need. Returns false if libcurl has not all of them; then the functions
// below do nothing. To be called once, after martlet_find_libcurl has found libcurl.
bool martlet_find_detour_functions(void);

// Lets the transfer connect as `entry` says, HOST:PORT:OTHER-HOST:OTHER-PORT (CURLOPT_CONNECT_TO). Returns the list that
// libcurl reads, for martlet_free_list after the transfer; NULL if nothing was changed.
void *martlet_connect_to(void *easy, const char *entry);

void martlet_free_list(void *list);

// Lets the transfer load `url` in place of the URL that the easy handle is given (CURLOPT_CURLU). Returns the value that
// libcurl reads, for martlet_free_url after the transfer; NULL if nothing was changed.
void *martlet_load_instead(void *easy, const char *url);

void martlet_free_url(void *url);

// Called with a listening socket, which then belongs to the callee.
typedef void (*martlet_listening)(void *context, int listener);

// Lets the transfer connect to a socket of this process alone, which `listening` gets at that time, without a look-up of the
// host's name and without a proxy. The connection is used for nothing else. With `listening` NULL the
// connection is refused. `context` must live as long as the transfer. Returns false if nothing was changed.
bool martlet_connect_locally(void *easy, martlet_listening listening, void *context);

// Takes the changes above back for the handle's next transfer.
void martlet_end_detour(void *easy);

// Makes the list of headers (struct curl_slist) have `line` as its only line with this name. `NAME:` keeps libcurl from
// sending the field, and `NAME;` sends it without a value (CURLOPT_HTTPHEADER). The list must not be empty, because its head
// stays the same. Returns false if nothing was changed.
bool martlet_replace_header(void *headers, const char *name, const char *line);

// Takes a connection from a listening socket; -1 if there is none. It does not block, and executed programs do not get it.
int martlet_accept(int listener);

// Sends bytes without blocking, and without SIGPIPE. Returns their number, or -1 with the reason in errno.
long martlet_send(int connection, const void *bytes, unsigned long count);
