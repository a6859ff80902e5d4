import Foundation
import MartletOTLP
import MartletTelemetry

/// Posts one batch at a time, on the agent's thread, and sets the headers.
final class Uploader {
    /// The transport in force.
    let transportName: MartletConfiguration.Transport
    private let token: String?
    private let timeout: Duration
    private let transport: any UploadTransport

    init(_ configuration: MartletConfiguration, log: AgentLog) {
        token = configuration.token
        timeout = configuration.exportTimeout
        let (libcurl, files) = (LibcurlTransport(), UploadTLS(configuration))
        let choice = TransportChoice(
            asked: configuration.transport, hasLibcurl: libcurl != nil,
            variablesNeedingLibcurl: files.variablesNeedingLibcurl)
        libcurl?.use(files)
        transportName = choice.transport
        if let libcurl, choice.transport == .libcurl { transport = libcurl } else { transport = URLSessionTransport() }
        for complaint in files.complaints { log.warning(complaint) }
        if let warning = choice.warning { log.warning(warning) }
    }

    /// Begins an upload; ``proceed(for:)`` tells how it goes on.
    ///
    /// - Parameter address: the collector's address, which gets the token.
    func start(_ body: [UInt8], batch: BatchID, isCompressed: Bool, to address: URL) {
        let url = address.appendingPathComponent("v1/\(batch.signal.rawValue)").absoluteString
        transport.start(
            Upload(url: url, headers: headers(of: batch, isCompressed: isCompressed), body: body, timeout: timeout))
    }

    private func headers(of batch: BatchID, isCompressed: Bool) -> [(name: String, value: String)] {
        var headers = [
            (name: "Content-Type", value: "application/x-protobuf"), (BatchID.headerName, "\(batch)"),
            ("User-Agent", "Martlet/\(OTLPScope.version)"),
        ]
        if isCompressed { headers.append(("Content-Encoding", "gzip")) }
        // A token with a line's end in it would make two headers.
        if let token { headers.append(("Authorization", "Bearer \(token.filter { !$0.isNewline })")) }
        return headers
    }

    /// Goes on with the upload, for `duration` at most; returns `nil` while it is under way.
    func proceed(for duration: Duration) -> UploadEnd? { transport.proceed(for: duration) }

    /// Gives up the upload under way, if any. It may or may not have arrived.
    func cancel() { transport.cancel() }

    /// Closes connections. To be called when no other upload follows at once.
    func rest() { transport.rest() }
}
