#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Posts bodies over libcurl, one at a time. Not thread-safe.
//
// libcurl is looked up, as in transfer.h; nothing links it.
typedef struct martlet_uploader martlet_uploader;

// Makes an uploader; NULL if libcurl was not found or is older than 7.66.
martlet_uploader *martlet_uploader_create(void);

// Ends the current upload, and releases connections and descriptors until the next upload begins.
void martlet_uploader_rest(martlet_uploader *uploader);

// Frees the uploader, even during an upload.
void martlet_uploader_destroy(martlet_uploader *uploader);

// The kinds of PEM files for https; one is a folder of files.
enum martlet_file {
    MARTLET_AUTHORITIES,
    MARTLET_AUTHORITIES_DIRECTORY,
    MARTLET_CLIENT_CERTIFICATE,
    MARTLET_CLIENT_KEY,
    MARTLET_FILE_KINDS,
};

// Sets a file for all later uploads, which is read for each connection. NULL means no file, not even the system's.
void martlet_uploader_set_file(martlet_uploader *uploader, enum martlet_file kind, const char *path);

// Adds a header to the next upload: a whole line without its line break. Returns false if that fails.
bool martlet_upload_add_header(martlet_uploader *uploader, const char *line);

// Begins an upload over a proxy, or directly if `proxy` is empty. The environment's proxies do not matter. Everything is
// copied. Returns false if the upload could not begin; `martlet_upload_error` gives the reason.
bool martlet_upload_begin(
    martlet_uploader *uploader, const char *url, const char *proxy, const uint8_t *body, size_t length,
    int64_t timeout_milliseconds);

enum martlet_upload_state { MARTLET_UPLOAD_RUNNING, MARTLET_UPLOAD_ANSWERED, MARTLET_UPLOAD_FAILED };

// Continues the upload, and waits for the network for at most `milliseconds`.
enum martlet_upload_state martlet_upload_proceed(martlet_uploader *uploader, int milliseconds);

// Ends the upload in any state. If possible, the connection is kept for the next one, until the uploader rests.
void martlet_upload_end(martlet_uploader *uploader);

// Returns the status of an upload that was answered.
long martlet_upload_status(const martlet_uploader *uploader);

// Return the value of the answer's header, empty if it has none. Only "Retry-After", "Martlet-Rejected-Requests",
// "Martlet-Store" and "Content-Type" are kept.
const char *martlet_upload_retry_after(const martlet_uploader *uploader);
const char *martlet_upload_rejected_requests(const martlet_uploader *uploader);
const char *martlet_upload_store(const martlet_uploader *uploader);
const char *martlet_upload_content_type(const martlet_uploader *uploader);

// Return the length of the kept beginning of the answer's body, at most 64 KiB, and copy it.
size_t martlet_upload_body_length(const martlet_uploader *uploader);
void martlet_upload_copy_body(const martlet_uploader *uploader, uint8_t *bytes);

// Returns the reason why an upload failed.
const char *martlet_upload_error(const martlet_uploader *uploader);

// Returns whether any byte of an upload was sent to the server; true if that is unknown.
bool martlet_upload_is_sent(const martlet_uploader *uploader);
