#pragma once
#include <stdbool.h>
#include <stdint.h>

// The figures that libcurl has of the last transfer of an easy handle (curl_easy_getinfo(3)). Times are microseconds since
// its start, as CURLINFO_…_TIME_T have them; 0 if the transfer did not get so far.
struct martlet_transfer {
    int64_t name_lookup;
    int64_t connect;
    int64_t tls;
    // The time when the connection is ready and the request about to be written.
    int64_t ready;
    int64_t first_byte;
    int64_t total;
    int64_t bytes_sent;
    int64_t bytes_received;
    // The number of new connections; 0 if an old one was used again.
    int64_t connections;
};

// Looks up the functions of the libcurl that FoundationNetworking loaded; nothing links it. `foundation` is any address
// within FoundationNetworking. Returns false if libcurl was not found, or the one found first in the process is not the one
// that FoundationNetworking's library names: then the functions below do nothing. To be called once, before them.
bool martlet_find_libcurl(const void *foundation);

// Reads the figures. Returns false if libcurl was not found or is older than 7.61, which has no such times; then `transfer`
// is unchanged.
bool martlet_read_transfer(void *easy, struct martlet_transfer *transfer);

// Reads the sizes alone. Returns false if libcurl does not tell them.
bool martlet_read_sizes(void *easy, struct martlet_transfer *transfer);

// Returns CURL_HTTP_VERSION_… of the last answer; 0 if there was none.
int64_t martlet_http_version(void *easy);

// Returns the address of the last peer and sets its port; NULL, with the port unchanged, if there was none. The text is
// libcurl's, until its next transfer.
const char *martlet_peer(void *easy, int64_t *port);

// Called when a connection is ready and before the request is written, on new and on reused connections and once for
// every hop of a redirect (CURLOPT_PREREQFUNCTION). It must not block, throw or trap, and has to return 0.
typedef int (*martlet_before_request)(void *context, char *peer, char *local, int peer_port, int local_port);

// Sets the callback. Returns false if libcurl is older than 7.80, which has no such call.
bool martlet_set_before_request(void *easy, martlet_before_request callback, void *context);

// Called when the status line of a final answer has come, not of an interim one (1xx). It must not block, throw or trap.
typedef void (*martlet_head)(void *context);

// Has libcurl call `callback` once, at the head of the next answer of this transfer. It takes libcurl's debug callback, the
// only one that sees a head without taking it from its owner, so nobody else may have that. Returns false if libcurl cannot
// be asked.
bool martlet_call_at_head(void *easy, martlet_head callback, void *context);

// Takes martlet_call_at_head back.
void martlet_cancel_head(void *easy);

// Adds `traceparent` (W3C Trace Context, section 3.2) and, unless it is NULL, `tracestate` to a list of headers as libcurl
// keeps it (struct curl_slist). It adds nothing if the list has a `traceparent` already. The list must not be empty, because
// its head would change then. Returns false if nothing was added.
bool martlet_add_trace_headers(
    void *headers, uint64_t trace_high, uint64_t trace_low, uint64_t span, bool sampled, const char *trace_state);
