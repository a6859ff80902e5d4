#pragma once
#include <stdbool.h>
#include <stdint.h>

// libcurl's figures for the last transfer of an easy handle (curl_easy_getinfo(3)). Times are microseconds since its
// start, like CURLINFO_…_TIME_T; 0 if the transfer did not get so far.
struct martlet_transfer {
    int64_t name_lookup;
    int64_t connect;
    int64_t tls;
    // When the connection is ready and the request is about to be written.
    int64_t ready;
    int64_t first_byte;
    int64_t total;
    int64_t bytes_sent;
    int64_t bytes_received;
    // The number of new connections; 0 if one was reused.
    int64_t connections;
};

// Looks up the functions of the libcurl that FoundationNetworking loaded; nothing links it. `foundation` is any address
// within FoundationNetworking. Returns false if libcurl was not found, or if the process found another one first. The
// functions below do nothing then. Call it once, before them.
bool martlet_find_libcurl(const void *foundation);

// Reads the figures. If libcurl was not found or is older than 7.61, which lacks these times, returns false and leaves
// `transfer` unchanged.
bool martlet_read_transfer(void *easy, struct martlet_transfer *transfer);

// Reads only the sizes. Returns false if libcurl does not report them.
bool martlet_read_sizes(void *easy, struct martlet_transfer *transfer);

// Returns CURL_HTTP_VERSION_… of the last answer; 0 if there was none.
int64_t martlet_http_version(void *easy);

// Returns the URL of the current transfer, which is that of the current hop; NULL if libcurl was not found. libcurl owns
// the text, which is valid until its next transfer.
const char *martlet_url(void *easy);

// Returns the address of the last peer and sets its port; NULL, with the port unchanged, if there was none. libcurl
// owns the text, which is valid until its next transfer.
const char *martlet_peer(void *easy, int64_t *port);

// Called when a connection is ready and before the request is written, on new and on reused connections and once for
// every hop of a redirect (CURLOPT_PREREQFUNCTION). It must not block, throw or trap, and must return 0.
typedef int (*martlet_before_request)(void *context, char *peer, char *local, int peer_port, int local_port);

// Sets the callback. Returns false if libcurl is older than 7.80, which has no such callback.
bool martlet_set_before_request(void *easy, martlet_before_request callback, void *context);

// Called when the status line of a final answer, not an interim one (1xx), has come. It must not block, throw or trap.
typedef void (*martlet_head)(void *context);

// Makes libcurl call `callback` once, at the head of the next answer of this transfer. Uses libcurl's debug callback,
// the only one that sees a head without taking it from its owner, so nothing else may use that. Returns false if
// libcurl does not support this.
bool martlet_call_at_head(void *easy, martlet_head callback, void *context);

// Undoes martlet_call_at_head.
void martlet_cancel_head(void *easy);

// Adds `traceparent` (W3C Trace Context, section 3.2) and, unless it is NULL, `tracestate` to libcurl's list of headers
// (struct curl_slist). Adds nothing if the list already has a `traceparent`. The list must not be empty, because its
// head would change then. Returns false if nothing was added.
bool martlet_add_trace_headers(
    void *headers, uint64_t trace_high, uint64_t trace_low, uint64_t span, bool sampled, const char *trace_state);
