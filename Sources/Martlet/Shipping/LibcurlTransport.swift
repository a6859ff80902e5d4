import CMartletHooks
import Foundation
import MartletTelemetry

/// Posts over the libcurl that `URLSession` brings with it, which nothing else links.
final class LibcurlTransport: UploadTransport {
    private let uploader: OpaquePointer

    /// Makes the transport. ``EasyHandle/isAvailable`` has initialised libcurl on the thread that starts the agent, so that
    /// no session is made for it.
    ///
    /// - Returns: `nil` if libcurl is not among the process's symbols.
    init?() {
        guard let uploader = martlet_uploader_create() else { return nil }
        self.uploader = uploader
    }

    deinit { martlet_uploader_destroy(uploader) }

    /// Sets the files for all uploads from then on.
    func use(_ files: UploadTLS) {
        if let authorities = files.authorities {
            martlet_uploader_set_file(uploader, MARTLET_AUTHORITIES, authorities.path)
            // The system's directory would add its authorities to these.
            martlet_uploader_set_file(uploader, MARTLET_AUTHORITIES_DIRECTORY, nil)
        } else {
            if let file = files.systemFile { martlet_uploader_set_file(uploader, MARTLET_AUTHORITIES, file) }
            if let directory = files.systemDirectory {
                martlet_uploader_set_file(uploader, MARTLET_AUTHORITIES_DIRECTORY, directory)
            }
        }
        guard let certificate = files.clientCertificate else { return }
        martlet_uploader_set_file(uploader, MARTLET_CLIENT_CERTIFICATE, certificate.path)
        martlet_uploader_set_file(uploader, MARTLET_CLIENT_KEY, (files.clientKey ?? certificate).path)
    }

    func start(_ upload: Upload) {
        cancel()
        for (name, value) in upload.headers { _ = martlet_upload_add_header(uploader, "\(name): \(value)") }
        // An empty `Expect` saves a round trip ahead of a large body.
        _ = martlet_upload_add_header(uploader, "Expect:")
        let milliseconds = Int64(clamping: upload.timeout.nanoseconds / 1_000_000)
        _ = martlet_upload_begin(uploader, upload.url, upload.body, upload.body.count, milliseconds)
    }

    func proceed(for duration: Duration) -> UploadEnd? {
        switch martlet_upload_proceed(uploader, Int32(clamping: duration.nanoseconds / 1_000_000)) {
        case MARTLET_UPLOAD_RUNNING: nil
        case MARTLET_UPLOAD_ANSWERED: .answered(answer)
        default:
            .failed(
                mayHaveArrived: martlet_upload_is_sent(uploader),
                reason: String(cString: martlet_upload_error(uploader)))
        }
    }

    private var answer: UploadAnswer {
        var body = [UInt8](repeating: 0, count: martlet_upload_body_length(uploader))
        martlet_upload_copy_body(uploader, &body)
        return UploadAnswer(
            status: martlet_upload_status(uploader),
            retryAfter: String(cString: martlet_upload_retry_after(uploader)),
            rejectedRequests: String(cString: martlet_upload_rejected_requests(uploader)),
            store: String(cString: martlet_upload_store(uploader)), body: body)
    }

    func cancel() { martlet_upload_end(uploader) }

    func rest() { martlet_uploader_rest(uploader) }
}
