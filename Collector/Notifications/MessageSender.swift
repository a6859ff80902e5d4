import AsyncHTTPClient
import Foundation
import MartletTelemetry
import NIOCore
import NIOPosix
import NIOSSL

/// Posts messages to receivers. Safe to use from any task.
package struct MessageSender: Sendable {
    /// The time limit of a message, until the answer's head.
    static let timeout = TimeAmount.seconds(10)

    private let http: HTTPClient

    /// Runs `body` with a sender.
    ///
    /// - Parameter tls: `nil` trusts the system's authorities.
    package static func run<Value: Sendable>(
        tls: TLSConfiguration?, _ body: @Sendable (MessageSender) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.connectionPool.retryConnectionEstablishment = false
        // A redirect would take the token and the finding to another host.
        configuration.redirectConfiguration = .disallow
        return try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            try await body(MessageSender(http: http))
        }
    }

    /// Sends a message that shows whether the receiver can be reached.
    package func test(_ receiver: Receiver) async -> ReceiverAnswer { await send(.test, to: receiver) }

    func send(_ message: FindingMessage, to receiver: Receiver) async -> ReceiverAnswer {
        do {
            var request = HTTPClientRequest(url: receiver.url)
            request.method = .POST
            request.headers = [
                "Content-Type": "application/json", "User-Agent": "martlet-collector/\(MartletVersion.current)",
            ]
            if let token = receiver.token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
            request.body = .bytes(ByteBuffer(string: try message.json))
            // Only the status is read: an error page may repeat the address.
            let response = try await http.execute(request, timeout: Self.timeout)
            return ReceiverAnswer(
                status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"))
        } catch {
            return .away(Self.reason(error), wait: nil)
        }
    }

    /// Explains an error without the address.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            return error.connectionErrors.first.map { reason($0.error) } ?? "its host has no address"
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case let error as HTTPClientError where error == .deadlineExceeded || error == .connectTimeout:
            return "it does not answer within 10 s"
        case let error as HTTPClientError: return error.shortDescription
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: return tls("\(error)")
        default: return "\(type(of: error))"
        }
    }

    /// Explains a TLS error, which is recognized by its text.
    private static func tls(_ text: String) -> String {
        if text.contains("CERTIFICATE_VERIFY_FAILED") { return "its certificate is not signed by a trusted authority" }
        if text.contains("failedToValidateHostname") { return "its certificate is for another host name" }
        if text.contains("WRONG_VERSION_NUMBER") { return "it answers without TLS" }
        return "no TLS connection can be made"
    }
}

/// The result of an attempt to send a message.
package enum ReceiverAnswer: Sendable, Equatable, CustomStringConvertible {
    case accepted(status: Int)
    /// The receiver does not take this message, or its address is wrong.
    case refused(String)
    /// The receiver cannot take messages now. It may have asked for a wait.
    case away(String, wait: Duration?)

    /// - Parameter retryAfter: the value of `Retry-After`. Only seconds are read, as chat services send them.
    init(status: Int, retryAfter: String? = nil) {
        switch status {
        case 200..<300: self = .accepted(status: status)
        case 300..<400: self = .refused("it redirects (\(status)), which is not followed")
        case 408, 429, 500...:
            self = .away("it answers \(status)", wait: retryAfter.flatMap { UInt32($0) }.map { .seconds(Int64($0)) })
        default: self = .refused("it answers \(status)")
        }
    }

    package var isAccepted: Bool { if case .accepted = self { true } else { false } }

    package var description: String {
        switch self {
        case .accepted(let status): "accepted (\(status))"
        case .refused(let reason), .away(let reason, _): "not accepted: \(reason)"
        }
    }
}
