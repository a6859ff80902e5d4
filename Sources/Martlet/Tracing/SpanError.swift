import Foundation
import MartletTelemetry
import Tracing

/// An error as a span records it.
struct SpanError: Sendable {
    static let messageAttribute = "exception.message"
    static let stackTraceAttribute = "exception.stacktrace"

    /// The type's name, with its module.
    let type: String
    /// The error's description, cut to twice the kept length, so that redaction sees how it continues.
    let message: String
    private let isCancellation: Bool

    init(_ error: any Error) {
        type = Self.name(of: Swift.type(of: error))
        message = String(describing: error).cut(toBytes: 2 * MartletLimits.messageLength)
        isCancellation = error is CancellationError
    }

    /// Returns a type's name without the addresses in the name of a private type, which differ in every process.
    private static func name(of type: Any.Type) -> String {
        var name = String(reflecting: type)
        while let start = name.range(of: "(unknown context at "), let end = name[start.upperBound...].range(of: ").") {
            name.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return name
    }

    /// The attribute `error.type` of an HTTP request that ended with this error and without a response: a type of the small
    /// set where the error's words tell it, else the name of the Swift type.
    var requestErrorType: String {
        if isCancellation { return RequestOutcome.cancelledError }
        let said = "\(type) \(message)"
        return Self.words.first { said.contains($0.word) }?.type ?? type
    }

    /// The words of AsyncHTTPClient, NIO and the system (seen with AsyncHTTPClient 1.37), and their types. The first word
    /// that fits decides.
    private static let words: [(word: String, type: String)] = [
        ("HTTPClientError.cancelled", RequestOutcome.cancelledError),
        ("Timeout", "timeout"), ("deadlineExceeded", "timeout"), ("timed out", "timeout"),
        ("DNS error", "dns"), ("SocketAddressError", "dns"),
        ("onnection refused", "connection_refused"), ("unreachable", "connection_failed"),
        ("reset by peer", "connection_reset"), ("remoteConnectionClosed", "connection_reset"),
        ("redirectLimitReached", "too_many_redirects"), ("redirectCycleDetected", "too_many_redirects"),
        ("handshake", "tls"), ("certificate", "tls"), ("NIOSSL", "tls"),
        ("HTTPParserError", "invalid_response"),
        ("invalidURL", "invalid_request"), ("unsupportedScheme", "invalid_request"), ("emptyHost", "invalid_request"),
    ]

    func event(at instant: some TracerInstant, _ attributes: SpanAttributes) -> Tracing.SpanEvent {
        var all: SpanAttributes = ["exception.type": .string(type), Self.messageAttribute: .string(message)]
        all.merge(attributes)
        return SpanEvent(name: "exception", at: instant, attributes: all)
    }
}
