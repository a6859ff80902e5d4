#pragma once
#include <stdbool.h>
#include <stdint.h>

// What libcurl knows of the last transfer of an easy handle (curl_easy_getinfo(3)). Times are microseconds since its
// start, as CURLINFO_…_TIME_T have them; 0 where the transfer did not get so far.
struct martlet_transfer {
    int64_t name_lookup;
    int64_t connect;
    int64_t tls;
    // The connection is ready and the request about to be written.
    int64_t ready;
    int64_t first_byte;
    int64_t total;
    int64_t bytes_sent;
    int64_t bytes_received;
    // 0 where a connection was used again.
    int64_t connections;
};

// libcurl is the one that FoundationNetworking loaded: its functions are looked up, and nothing links it. `foundation` is
// any address within FoundationNetworking. False where libcurl was not found, or the one found first in the process is not
// the one that FoundationNetworking's library names: then nothing below does anything. To be called once, before it.
bool martlet_find_libcurl(const void *foundation);

// False where libcurl was not found or is older than 7.61, which has no such times; then `transfer` is unchanged.
bool martlet_read_transfer(void *easy, struct martlet_transfer *transfer);

// The sizes alone. False where libcurl does not tell.
bool martlet_read_sizes(void *easy, struct martlet_transfer *transfer);

// CURL_HTTP_VERSION_… of the last answer; 0 where there was none.
int64_t martlet_http_version(void *easy);

// The address and port of the last peer; NULL and 0 where there was none. The text is libcurl's, until its next transfer.
const char *martlet_peer(void *easy, int64_t *port);

// Called when a connection is ready and before the request is written, on new and on reused connections and once for
// every hop of a redirect (CURLOPT_PREREQFUNCTION). It must not block, throw or trap, and has to return 0.
typedef int (*martlet_before_request)(void *context, char *peer, char *local, int peer_port, int local_port);

// False where libcurl is older than 7.80, which has no such call.
bool martlet_set_before_request(void *easy, martlet_before_request callback, void *context);

// Called when the status line of an answer came, interim ones (1xx) left out. It must not block, throw or trap.
typedef void (*martlet_head)(void *context);

// Has libcurl call once, at the head of the next answer of this transfer. By the debug callback, which is the one of libcurl's
// that sees a head without taking it from its owner: it is to be asked for where nobody else has it. False where libcurl
// cannot be asked.
bool martlet_call_at_head(void *easy, martlet_head callback, void *context);

// Ends that.
void martlet_ignore_head(void *easy);

// A list of headers as libcurl keeps it (struct curl_slist). Adds `traceparent` (W3C Trace Context, section 3.2) and,
// unless it is NULL, `tracestate`; nothing where the list has a `traceparent` already. The list must not be empty: then
// its head would change. False where nothing was added.
bool martlet_add_trace_headers(
    void *headers, uint64_t trace_high, uint64_t trace_low, uint64_t span, bool sampled, const char *trace_state);
