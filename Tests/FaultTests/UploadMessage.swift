import Fixtures
import Foundation
import MartletTelemetry

/// An upload of the agent as it arrived over the connection.
struct UploadMessage: Sendable {
    private let head: String
    let body: [UInt8]

    /// Reads one upload; `nil` if the connection ended before it was complete.
    init?(from connection: Connection) {
        let end = Array("\r\n\r\n".utf8)
        var bytes: [UInt8] = []
        var headEnd: Int?
        while headEnd == nil {
            let part = connection.read()
            if part.isEmpty { return nil }
            bytes += part
            headEnd = bytes.indices.first { bytes[$0...].starts(with: end) }
        }
        head = String(decoding: bytes[..<(headEnd ?? 0)], as: UTF8.self)
        var body = Array(bytes[((headEnd ?? 0) + end.count)...])
        let length = Self.field("Content-Length", in: head).flatMap { Int($0) } ?? 0
        while body.count < length {
            let part = connection.read()
            if part.isEmpty { return nil }
            body += part
        }
        self.body = body
    }

    var batch: String { Self.field(BatchID.headerName, in: head) ?? "" }

    /// The target of the request: a path, or the whole address if the agent takes the receiver for a proxy.
    var target: String { head.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

    /// The credentials for a proxy.
    var proxyAuthorization: String? { Self.field("Proxy-Authorization", in: head) }

    var isMetrics: Bool { batch.hasSuffix(Signal.metrics.rawValue) }

    /// Whether a request to ClickHouse inserts rows into a table.
    func inserts(into table: String) -> Bool { head.contains("query=INSERT%20INTO%20\(table)%20") }

    /// The bytes to pass to the collector, with a path as the target and a header that closes the connection after the
    /// answer.
    var bytes: [UInt8] {
        let authority = Self.field("Host", in: head) ?? ""
        let own = head.replacingOccurrences(of: " http://\(authority)/", with: " /")
        let lines = own.components(separatedBy: "\r\n").filter { !$0.lowercased().hasPrefix("connection:") }
        return Array((lines + ["Connection: close", "", ""]).joined(separator: "\r\n").utf8) + body
    }

    private static func field(_ name: String, in head: String) -> String? {
        for line in head.components(separatedBy: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { continue }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
        return nil
    }
}
