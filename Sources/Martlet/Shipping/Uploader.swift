import Dispatch
import Foundation
import MartletOTLP
import MartletTelemetry

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Posts one batch at a time over a `URLSession` of its own, whose requests capture passes by.
final class Uploader: Sendable {
    private let endpoint: URL
    private let token: String?
    private let session: URLSession
    private let exchange: UploadExchange

    /// - Parameter finished: called on the session's queue when an upload has ended.
    init(_ configuration: MartletConfiguration, finished: @escaping @Sendable () -> Void) {
        endpoint = configuration.endpoint
        token = configuration.token
        exchange = UploadExchange(finished: finished)
        let settings = URLSessionConfiguration.ephemeral
        // On Linux whole seconds count, and with 0 of them a request fails at once. The delivery has its own time-out.
        settings.timeoutIntervalForRequest = configuration.exportTimeout.seconds.rounded(.up)
        settings.urlCache = nil
        settings.httpCookieStorage = nil
        settings.urlCredentialStorage = nil
        session = URLSession(configuration: settings, delegate: exchange, delegateQueue: nil)
    }

    func start(_ body: [UInt8], batch: BatchID, isCompressed: Bool) {
        var request = URLRequest(url: endpoint.appendingPathComponent("v1/\(batch.signal.rawValue)"))
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        request.setValue("application/x-protobuf", forHTTPHeaderField: "Content-Type")
        request.setValue(batch.description, forHTTPHeaderField: BatchID.headerName)
        request.setValue("Martlet/\(OTLPScope.version)", forHTTPHeaderField: "User-Agent")
        if isCompressed { request.setValue("gzip", forHTTPHeaderField: "Content-Encoding") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let task = session.dataTask(with: request)
        OwnTask.mark(task)
        exchange.begin(task, signal: batch.signal)
    }

    /// The outcome of the upload that was started last; `nil` while it is under way.
    var outcome: UploadOutcome? { exchange.outcome }

    /// Gives up the upload under way. The batch may or may not have arrived.
    func cancel() { exchange.cancel() }

    /// The last use.
    func close() { session.invalidateAndCancel() }
}
