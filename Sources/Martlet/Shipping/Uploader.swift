import CMartletHooks
import Foundation
import MartletOTLP
import MartletTelemetry

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Posts one batch at a time, on the agent's thread and over the libcurl that `URLSession` brings with it.
///
/// Not over `URLSession` itself, which on Linux (6.3.1) ends the process where an answer ends within its head
/// (`NativeProtocol.swift`, "Transfer completed, but there's no response"), keeps a core busy while it waits for a slow one,
/// and rounds time-outs down to whole seconds: a collector must not be able to do that to a service.
final class Uploader {
    private let endpoint: URL
    private let token: String?
    private let timeout: Duration
    /// `nil` where libcurl was not found.
    private let uploader: OpaquePointer?
    /// Of the upload under way.
    private var signal = Signal.metrics

    /// Made behind ``EasyHandle/isAvailable``, with which libcurl was initialised on the thread that starts the agent. No
    /// session is made for that: the first one settles which protocols and which cache `URLSession.shared` has, and that
    /// is the service's to say.
    init(_ configuration: MartletConfiguration) {
        endpoint = configuration.endpoint
        token = configuration.token
        timeout = configuration.exportTimeout
        uploader = martlet_uploader_create()
    }

    deinit { martlet_uploader_destroy(uploader) }

    /// Begins an upload; how it goes on is told by ``proceed(for:)``.
    func start(_ body: [UInt8], batch: BatchID, isCompressed: Bool) {
        cancel()
        signal = batch.signal
        guard let uploader else { return }
        for header in headers(of: batch, isCompressed: isCompressed) { _ = martlet_upload_add_header(uploader, header) }
        let url = endpoint.appendingPathComponent("v1/\(batch.signal.rawValue)").absoluteString
        let milliseconds = Int64(clamping: timeout.nanoseconds / 1_000_000)
        _ = martlet_upload_begin(uploader, url, body, body.count, milliseconds)
    }

    private func headers(of batch: BatchID, isCompressed: Bool) -> [String] {
        var headers = [
            "Content-Type: application/x-protobuf", "\(BatchID.headerName): \(batch)",
            "User-Agent: Martlet/\(OTLPScope.version)",
            // No round trip ahead of a large body.
            "Expect:",
        ]
        if isCompressed { headers.append("Content-Encoding: gzip") }
        // With a line's end in it, it would be two headers.
        if let token { headers.append("Authorization: Bearer \(token.filter { !$0.isNewline })") }
        return headers
    }

    /// Goes on with the upload, for so long at most; `nil` while it is under way.
    func proceed(for duration: Duration) -> UploadOutcome? {
        guard let uploader else { return UploadOutcome(transportError: "libcurl was not found") }
        switch martlet_upload_proceed(uploader, Int32(clamping: duration.nanoseconds / 1_000_000)) {
        case MARTLET_UPLOAD_RUNNING: return nil
        case MARTLET_UPLOAD_ANSWERED: return UploadOutcome(answer(of: uploader), signal: signal)
        default: return UploadOutcome(transportError: String(cString: martlet_upload_error(uploader)))
        }
    }

    private func answer(of uploader: OpaquePointer) -> UploadAnswer {
        var body = [UInt8](repeating: 0, count: martlet_upload_body_length(uploader))
        martlet_upload_copy_body(uploader, &body)
        return UploadAnswer(
            status: martlet_upload_status(uploader),
            retryAfter: RetryAfter.delay(String(cString: martlet_upload_retry_after(uploader)), now: Date()),
            rejectedRequests: UInt64(String(cString: martlet_upload_rejected_requests(uploader))), body: body)
    }

    /// Gives up the upload under way, if there is one. It may or may not have arrived.
    func cancel() {
        if let uploader { martlet_upload_end(uploader) }
    }
}
