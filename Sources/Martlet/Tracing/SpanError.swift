import Foundation
import MartletTelemetry
import Tracing

/// An error as a span records it.
struct SpanError: Sendable {
    static let messageAttribute = "exception.message"

    /// The type's name, with its module.
    let type: String
    /// What it said, cut to a limit.
    let message: String
    private let isCancellation: Bool

    init(_ error: any Error) {
        type = String(reflecting: Swift.type(of: error))
        message = String(describing: error).cut(toBytes: MartletLimits.messageLength)
        isCancellation = error is CancellationError
    }

    /// `error.type` of an HTTP request that ended with it and without a response: one of the small set where the words
    /// tell, else the type's name.
    var requestErrorType: String {
        if isCancellation { return RequestOutcome.cancelledError }
        return Self.words.first { message.contains($0.word) }?.type ?? type
    }

    /// What AsyncHTTPClient, NIO and the system call them.
    private static let words: [(word: String, type: String)] = [
        ("HTTPClientError.cancelled", RequestOutcome.cancelledError),
        ("Timeout", "timeout"), ("deadlineExceeded", "timeout"), ("timed out", "timeout"), ("ETIMEDOUT", "timeout"),
        ("refused", "connection_refused"), ("ECONNREFUSED", "connection_refused"),
        ("reset by peer", "connection_reset"), ("ECONNRESET", "connection_reset"),
        ("remoteConnectionClosed", "connection_reset"), ("uncleanShutdown", "connection_reset"),
        ("redirectLimitReached", "too_many_redirects"), ("redirectCycleDetected", "too_many_redirects"),
        ("handshake", "tls"), ("certificate", "tls"), ("NIOSSL", "tls"), ("BoringSSL", "tls"),
        ("dnsAError", "dns"), ("SocketAddressError.unknown", "dns"), ("invalidURL", "invalid_request"),
    ]

    func event(at instant: some TracerInstant, _ attributes: SpanAttributes) -> Tracing.SpanEvent {
        var all: SpanAttributes = ["exception.type": .string(type), Self.messageAttribute: .string(message)]
        all.merge(attributes)
        return SpanEvent(name: "exception", at: instant, attributes: all)
    }
}
