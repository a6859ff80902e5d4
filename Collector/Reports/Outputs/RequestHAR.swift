import Foundation
import MartletOTLP
import MartletTelemetry

/// A kept request as an HTTP archive (HAR 1.2) with one entry. Redacted values stand in it as they were kept.
package struct RequestHAR: Sendable, Equatable, Encodable {
    let log: Log

    package init(_ report: RequestReport) { log = Log(entries: [Entry(report)]) }

    struct Log: Sendable, Equatable, Encodable {
        var version = "1.2"
        var creator = Creator()
        var entries: [Entry]
    }

    struct Creator: Sendable, Equatable, Encodable {
        var name = "Martlet"
        var version = OTLPScope.version
    }

    struct Entry: Sendable, Equatable, Encodable {
        var startedDateTime: String
        /// Milliseconds: the sum of the timings.
        var time: Double
        var request: Request
        var response: Response
        /// Nothing is known of caches.
        var cache: [String: String] = [:]
        var timings: HARTimings
        var serverIPAddress: String?

        init(_ report: RequestReport) {
            startedDateTime = report.summary.time
            request = Request(report)
            response = Response(report)
            timings = HARTimings(report)
            time = timings.sum
            serverIPAddress = report.attributes[AttributeName.peerAddress]
        }
    }

    struct Field: Sendable, Equatable, Encodable {
        var name: String
        var value: String
    }

    struct Request: Sendable, Equatable, Encodable {
        struct PostData: Sendable, Equatable, Encodable {
            var mimeType: String
            var text: String
        }

        var method: String
        var url: String
        var httpVersion: String
        var cookies: [Field] = []
        var headers: [Field]
        var queryString: [Field]
        var postData: PostData?
        var headersSize = -1
        /// -1 if it is not known.
        var bodySize: Int64

        init(_ report: RequestReport) {
            let summary = report.summary
            (method, url) = (summary.method, report.address ?? summary.url ?? summary.host + summary.endpoint)
            httpVersion = RequestHAR.httpVersion(report)
            headers = RequestHAR.fields(report.requestHeaders)
            queryString = RequestHAR.query(url)
            postData = report.requestBody.map {
                PostData(mimeType: RequestHAR.contentType(report.requestHeaders), text: $0)
            }
            bodySize = summary.bytes.sent.map { Int64(clamping: $0) } ?? -1
        }
    }

    struct Response: Sendable, Equatable, Encodable {
        struct Content: Sendable, Equatable, Encodable {
            var size: UInt64
            var mimeType: String
            var text: String?
        }

        /// 0 if no response came.
        var status: Int
        var statusText = ""
        var httpVersion: String
        var cookies: [Field] = []
        var headers: [Field]
        var content: Content
        var redirectURL: String
        var headersSize = -1
        /// -1 if it is not known.
        var bodySize: Int64
        /// The error and its message. HAR leaves names that begin with an underscore to programs; browsers use this one.
        var error: String?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
            case error = "_error"
        }

        init(_ report: RequestReport) {
            let summary = report.summary
            status = summary.status ?? 0
            httpVersion = RequestHAR.httpVersion(report)
            headers = RequestHAR.fields(report.responseHeaders)
            content = Content(
                size: summary.bytes.received ?? 0, mimeType: RequestHAR.contentType(report.responseHeaders),
                text: report.responseBody)
            redirectURL = report.responseHeaders["location"]?.first ?? ""
            bodySize = summary.bytes.received.map { Int64(clamping: $0) } ?? -1
            error = summary.error.map { [$0, summary.message].compactMap(\.self).joined(separator: ": ") }
        }
    }

    // MARK: Parts of both messages

    private static func fields(_ headers: [String: [String]]) -> [Field] {
        headers.sorted { $0.key < $1.key }.flatMap { name, values in values.map { Field(name: name, value: $0) } }
    }

    private static func query(_ url: String) -> [Field] {
        (URLComponents(string: url)?.queryItems ?? []).map { Field(name: $0.name, value: $0.value ?? "") }
    }

    private static func contentType(_ headers: [String: [String]]) -> String { headers["content-type"]?.first ?? "" }

    private static func httpVersion(_ report: RequestReport) -> String {
        report.attributes[AttributeName.protocolVersion].map { "HTTP/\($0)" } ?? "unknown"
    }
}

/// The phases of a request in the words of HAR 1.2, in milliseconds. -1 stands for a phase that the request did not have, or that
/// is not known.
struct HARTimings: Sendable, Equatable, Encodable {
    var blocked = -1.0
    var dns = -1.0
    /// With the time of the TLS handshake, as HAR has it.
    var connect = -1.0
    /// Sending is a part of ``wait``, which begins with the first byte that is written.
    var send = 0.0
    /// With the time that no phase tells.
    var wait = 0.0
    var receive = 0.0
    var ssl = -1.0

    init(_ report: RequestReport) {
        let bars = PhaseWaterfall(report)?.bars ?? []
        for bar in bars { add(bar.phase, bar.length) }
        wait += max(0, report.summary.duration - bars.reduce(0) { $0 + $1.length })
    }

    private mutating func add(_ phase: RequestPhase, _ time: Double) {
        switch phase {
        case .queue: blocked = time
        case .dns: dns = time
        case .connect: connect = max(0, connect) + time
        case .tls: (ssl, connect) = (time, max(0, connect) + time)
        case .firstByte: wait += time
        case .transfer: receive += time
        }
    }

    /// All timings that are known; `ssl` is in `connect`.
    var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
}
