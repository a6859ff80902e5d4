import HTTPTypes
import Hummingbird
import Logging
import MartletTelemetry
import Synchronization

/// Checks the token of a request. Wrong tokens are throttled by address (``TokenAttempts``). After a right one, its connection
/// no longer counts towards the limit for connections without a token.
///
/// A connection that has shown a right token is not throttled. So somebody who guesses tokens behind a load balancer or NAT
/// does not lock out the other clients there.
struct TokenGate: Sendable {
    enum Verdict {
        case accepted
        case rejected
        /// The address gave too many wrong tokens, so this one was not checked.
        case throttled
    }

    static let tooManyWrong = "too many wrong tokens from this address; try again in a minute"
    /// The time after which an address may try again, in seconds.
    static let waitSeconds = 60

    let attempts: TokenAttempts
    let unauthenticated: UnauthenticatedConnections

    /// - Parameter isValid: compares the token.
    func verdict(on token: String, of context: CollectorRequestContext, isValid: (String) -> Bool) -> Verdict {
        let address = context.remoteAddress
        guard !unauthenticated.contains(context.channel) || attempts.allow(address) else { return .throttled }
        guard isValid(token) else {
            attempts.add(token, of: address)
            return .rejected
        }
        unauthenticated.markAuthenticated(context.channel)
        return .accepted
    }
}

/// Counts the wrong tokens of each address, in logins and in header fields, so that nobody can try tokens by the thousand. A
/// wrong token counts once a minute, so a sender that repeats an old one does not lock out its address. Safe to use from any
/// task.
final class TokenAttempts: Sendable {
    /// The maximum number of wrong tokens from an address in a minute.
    static let most = 10
    private static let minute: UInt64 = 60_000_000_000
    /// The maximum number of addresses that are remembered.
    private static let maxAddresses = 10_000

    private struct Wrong {
        var minute: UInt64
        /// The hash values of the tokens.
        var tokens: Set<Int> = []
    }

    private let wrong = Mutex<[String: Wrong]>([:])
    private let now: @Sendable () -> UnixNanoseconds

    init(now: @escaping @Sendable () -> UnixNanoseconds) {
        self.now = now
    }

    /// Returns whether the address may try a token.
    func allow(_ address: String) -> Bool {
        let minute = now() / Self.minute
        return wrong.withLock { wrong in
            guard let known = wrong[address], known.minute == minute else { return true }
            return known.tokens.count < Self.most
        }
    }

    /// Counts a wrong token.
    func add(_ token: String, of address: String) {
        let minute = now() / Self.minute
        wrong.withLock { wrong in
            if wrong.count >= Self.maxAddresses { wrong = wrong.filter { $0.value.minute == minute } }
            if wrong.count >= Self.maxAddresses { wrong = [:] }
            var known = wrong[address] ?? Wrong(minute: minute)
            if known.minute != minute { known = Wrong(minute: minute) }
            known.tokens.insert(token.hashValue)
            wrong[address] = known
        }
    }
}

/// Admits senders that give one of the tokens as `Authorization: Bearer <token>` (RFC 6750, section 2.1).
struct BearerTokenMiddleware: RouterMiddleware {
    typealias Context = CollectorRequestContext

    let tokens: IngestTokens
    let gate: TokenGate
    let logger: Logger

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let verdict = BearerToken.given(in: request).map { gate.verdict(on: $0, of: context, isValid: tokens.contain) }
        switch verdict ?? .rejected {
        case .accepted: return try await next(request, context)
        // The answer has no WWW-Authenticate, although RFC 9110 requires it: URLSession on Linux (6.3.1) never returns from a
        // 401 that has it.
        case .rejected: return try refuse(request, 401, "the ingest token is missing or wrong", context)
        case .throttled:
            return try refuse(request, 429, TokenGate.tooManyWrong, context).retryable(after: TokenGate.waitSeconds)
        }
    }

    private func refuse(
        _ request: Request, _ status: Int, _ reason: String, _ context: Context
    ) throws -> Response {
        logger.refusal(status: status, reason: reason, of: context)
        return try Response.otlpFailure(status: status, message: reason, to: request)
    }
}

enum BearerToken {
    /// Returns `nil` if the request has none.
    static func given(in request: Request) -> String? {
        guard let header = request.headers[.authorization], header.prefix(7).lowercased() == "bearer " else {
            return nil
        }
        return String(header.dropFirst(7))
    }
}
