import Foundation
import MartletOTLP
import MartletTelemetry

/// Posts one batch at a time, on the agent's thread, and sets the headers.
final class Uploader {
    /// The content type of each body and of each answer to it (OTLP/HTTP).
    static let contentType = "application/x-protobuf"

    /// The transport in force.
    let transportName: MartletConfiguration.Transport
    /// The header fields that all uploads have.
    private let commonHeaders: [(name: String, value: String)]
    private let timeout: Duration
    private let proxies: UploadProxies
    private let transport: any UploadTransport

    init(_ configuration: MartletConfiguration, log: AgentLog) {
        let (headers, refused) = Self.headers(of: configuration)
        commonHeaders = headers
        timeout = configuration.exportTimeout
        proxies = UploadProxies(configuration)
        let (libcurl, files) = (LibcurlTransport(), UploadTLS(configuration))
        let choice = TransportChoice(
            asked: configuration.transport, hasLibcurl: libcurl != nil,
            variablesNeedingLibcurl: files.variablesNeedingLibcurl + proxies.settingsNeedingLibcurl)
        libcurl?.use(files)
        transportName = choice.transport
        if let libcurl, choice.transport == .libcurl { transport = libcurl } else { transport = URLSessionTransport() }
        for complaint in files.complaints { log.warning(complaint) }
        if let warning = choice.warning { log.warning(warning) }
        if !refused.isEmpty {
            let names = refused.map { $0.printable(upTo: 100) }.joined(separator: ", ")
            log.warning("Uploads are sent without these headers, which are not allowed: \(names)")
        }
    }

    /// Begins an upload. Call ``proceed(for:)`` to continue it.
    ///
    /// - Parameter address: the collector's address, which gets the token and the service's header fields.
    func start(_ body: [UInt8], batch: BatchID, isCompressed: Bool, to address: URL) {
        let url = address.appendingPathComponent("v1/\(batch.signal.rawValue)").absoluteString
        transport.start(
            Upload(
                url: url, headers: headers(of: batch, isCompressed: isCompressed), body: body, timeout: timeout,
                proxy: way(to: address).proxy))
    }

    /// Returns the way to a collector. `URLSession` itself follows the environment.
    func way(to address: URL) -> UploadWay { transportName == .libcurl ? proxies.way(to: address) : .direct }

    /// Returns the header fields of a configuration, and the names of those that uploads cannot have.
    private static func headers(
        of configuration: MartletConfiguration
    ) -> (headers: [(name: String, value: String)], refused: [String]) {
        let own = configuration.headers.sorted { $0.key < $1.key }
        let refused = own.filter { !UploadHeader.isAllowed($0.key, $0.value) }.map(\.key)
        let hidden = Set(refused.map { $0.lowercased() } + (configuration.token == nil ? [] : ["authorization"]))
        var headers = own.filter { !hidden.contains($0.key.lowercased()) }.map { (name: $0.key, value: $0.value) }
        if !headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
            headers.append(("User-Agent", "Martlet/\(MartletVersion.current)"))
        }
        // A token that contains a line break would add a header.
        if let token = configuration.token {
            headers.append(("Authorization", "Bearer \(token.filter { !$0.isNewline })"))
        }
        return (headers, refused)
    }

    private func headers(of batch: BatchID, isCompressed: Bool) -> [(name: String, value: String)] {
        var headers = [
            (name: "Content-Type", value: Self.contentType), (name: BatchID.headerName, value: "\(batch)"),
        ]
        if isCompressed { headers.append(("Content-Encoding", "gzip")) }
        return headers + commonHeaders
    }

    /// Continues the upload, at most for `duration`; returns `nil` if it has not ended.
    func proceed(for duration: Duration) -> UploadEnd? { transport.proceed(for: duration) }

    /// Gives up the current upload, if any. It may or may not have arrived.
    func cancel() { transport.cancel() }

    /// Closes connections. Call it if no other upload follows at once.
    func rest() { transport.rest() }
}

/// A batch to send to the collector.
struct Upload: Sendable {
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]
    let timeout: Duration
    /// `nil` for none. `URLSession` ignores it.
    var proxy: URL?
}

/// Uploads one batch at a time. Only for the agent's thread.
protocol UploadTransport: AnyObject {
    /// Begins an upload. Call ``proceed(for:)`` to continue it.
    func start(_ upload: Upload)

    /// Continues the upload, at most for `duration`; returns `nil` if it has not ended.
    func proceed(for duration: Duration) -> UploadEnd?

    /// Gives up the current upload, if any. It may or may not have arrived.
    func cancel()

    /// Releases connections and other resources until the next upload.
    func rest()
}

/// The transport of uploads, and the warning about it.
struct TransportChoice: Equatable {
    typealias Transport = MartletConfiguration.Transport

    let transport: Transport
    let warning: String?

    /// Whether `URLSession` fails with an error if an answer ends within its head. Before Swift 6.4 it crashes the
    /// process on Linux, where Foundation comes with the toolchain.
    static let isURLSessionSound: Bool = {
        #if !os(Linux) || compiler(>=6.4)
        true
        #else
        false
        #endif
    }()

    /// - Parameters:
    ///   - asked: the configured transport; `nil` to choose the suitable one.
    ///   - hasLibcurl: whether libcurl's functions were found in the process.
    ///   - variablesNeedingLibcurl: the variables that request something that `URLSession` on Linux cannot do.
    ///   - isForkedChild: whether the process was forked from one with an agent. `URLSession` works there only if the
    ///     parent used no queues, no tasks and no `URLSession`.
    init(
        asked: Transport?, hasLibcurl: Bool, variablesNeedingLibcurl variables: [String],
        isForkedChild: Bool = ForkedChild.isHere, isURLSessionSound: Bool = Self.isURLSessionSound
    ) {
        let names = variables.joined(separator: ", ")
        let needsLibcurl = isForkedChild || !variables.isEmpty
        let suited: Transport = isURLSessionSound ? .urlSession : .libcurl
        let wanted = needsLibcurl ? .libcurl : asked ?? suited
        transport = wanted == .libcurl && !hasLibcurl ? .urlSession : wanted
        switch (wanted, transport) {
        case (.libcurl, .urlSession) where !variables.isEmpty:
            warning =
                "Uploads go over URLSession, which does not support \(names), because libcurl is not in this process"
        case (.libcurl, .urlSession) where asked == .libcurl:
            warning = "Uploads go over URLSession: MARTLET_TRANSPORT asks for libcurl, which is not in this process"
        case (.libcurl, .urlSession):
            warning =
                """
                Uploads go over URLSession, because libcurl is not in this process; \
                before Swift 6.4, an answer that is cut off within its head crashes the process
                """
        case (.libcurl, .libcurl) where asked == .urlSession && !variables.isEmpty:
            warning = "Uploads go over libcurl, because URLSession does not support \(names)"
        case (.libcurl, .libcurl) where asked == .urlSession:
            warning = "Uploads of this forked child go over libcurl, because URLSession may not answer in it"
        default: warning = nil
        }
    }
}
