#pragma once
#include <stdbool.h>

// Changes of one libcurl transfer before its start, for rules: another address, another URL, a socket of the caller.

// Looks up the functions that only these changes need. Returns false if libcurl lacks any; the functions below do
// nothing then. Call it once, after martlet_find_libcurl has found libcurl.
bool martlet_find_detour_functions(void);

// Makes the transfer connect according to `entry`, HOST:PORT:OTHER-HOST:OTHER-PORT (CURLOPT_CONNECT_TO). Returns the
// list that libcurl reads, for martlet_free_list after the transfer; NULL if nothing was changed.
void *martlet_connect_to(void *easy, const char *entry);

void martlet_free_list(void *list);

// Makes the transfer load `url` instead of the easy handle's URL (CURLOPT_CURLU). Returns the value that libcurl reads,
// for martlet_free_url after the transfer; NULL if nothing was changed.
void *martlet_load_instead(void *easy, const char *url);

void martlet_free_url(void *url);

// Called with a listening socket, which the callee then owns.
typedef void (*martlet_listening)(void *context, int listener);

// Makes the transfer connect to a socket of this process, without looking up the host's name and without a proxy.
// `listening` gets the socket when libcurl connects. The connection is used for nothing else. If `listening` is NULL,
// the connection is refused. `context` must live as long as the transfer. Returns false if nothing was changed.
bool martlet_connect_locally(void *easy, martlet_listening listening, void *context);

// Undoes the changes above for the handle's next transfer.
void martlet_end_detour(void *easy);

// Makes `line` the only line with its name in the list of headers (struct curl_slist). `NAME:` keeps libcurl from
// sending the field, and `NAME;` sends it without a value (CURLOPT_HTTPHEADER). The list must not be empty, because its
// head does not change. Returns false if nothing was changed.
bool martlet_replace_header(void *headers, const char *name, const char *line);

// Accepts a connection from a listening socket; -1 if there is none. It does not block and is not inherited by executed
// programs.
int martlet_accept(int listener);

// Sends bytes without blocking and without SIGPIPE. Returns their number, or -1 with the reason in errno.
long martlet_send(int connection, const void *bytes, unsigned long count);
