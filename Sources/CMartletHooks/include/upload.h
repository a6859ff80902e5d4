#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Posts bodies over libcurl, one at a time. For one thread.
//
// libcurl is looked up, as in transfer.h; nothing links it.
typedef struct martlet_uploader martlet_uploader;

// NULL where libcurl was not found or is older than 7.66.
martlet_uploader *martlet_uploader_create(void);

// Ends what is under way, and lets go of connections and descriptors until the next upload begins.
void martlet_uploader_rest(martlet_uploader *uploader);

// Also in the middle of an upload.
void martlet_uploader_destroy(martlet_uploader *uploader);

// Files in PEM, and a folder of them, for https.
enum martlet_file {
    MARTLET_AUTHORITIES,
    MARTLET_AUTHORITIES_FOLDER,
    MARTLET_CLIENT_CERTIFICATE,
    MARTLET_CLIENT_KEY,
    MARTLET_FILE_KINDS,
};

// For all uploads from then on. Read for each connection. NULL: none, not that of the system either.
void martlet_uploader_set_file(martlet_uploader *uploader, enum martlet_file kind, const char *path);

// Adds a header to the upload that begins next: a whole line without its end.
bool martlet_upload_add_header(martlet_uploader *uploader, const char *line);

// False where it could not begin; `martlet_upload_error` says why. Everything is copied.
bool martlet_upload_begin(
    martlet_uploader *uploader, const char *url, const uint8_t *body, size_t length, int64_t timeout_milliseconds);

enum martlet_upload_state { MARTLET_UPLOAD_RUNNING, MARTLET_UPLOAD_ANSWERED, MARTLET_UPLOAD_FAILED };

// Goes on with it, and waits for the network for `milliseconds` at most.
enum martlet_upload_state martlet_upload_proceed(martlet_uploader *uploader, int milliseconds);

// Ends it, whatever its state; the connection is kept for the next one, where that is possible, until the uploader rests.
void martlet_upload_end(martlet_uploader *uploader);

// Of one that was answered: the status.
long martlet_upload_status(const martlet_uploader *uploader);

// Of one that was answered: the header's value, empty where there was none. Only "Retry-After" and
// "Martlet-Rejected-Requests" are kept.
const char *martlet_upload_retry_after(const martlet_uploader *uploader);
const char *martlet_upload_rejected_requests(const martlet_uploader *uploader);

// Of one that was answered: how much there is of the beginning of the body, 64 KiB at most, and a copy of it.
size_t martlet_upload_body_length(const martlet_uploader *uploader);
void martlet_upload_copy_body(const martlet_uploader *uploader, uint8_t *bytes);

// Of one that failed: in words.
const char *martlet_upload_error(const martlet_uploader *uploader);
