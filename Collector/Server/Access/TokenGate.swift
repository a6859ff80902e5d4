import HTTPTypes
import Hummingbird
import Logging
import MartletTelemetry
import Synchronization

/// Checks the token of a request. A right one always passes, and its connection no longer counts towards the limit for
/// connections without a token. The answer to a wrong one is delayed if its address gave many (``TokenAttempts``). The address is
/// not locked out, because behind a load balancer or NAT it is that of many clients.
struct TokenGate: Sendable {
    let attempts: TokenAttempts
    let unauthenticated: UnauthenticatedConnections
    /// See ``ServerLimits/delayAfterWrongTokens``.
    let delay: @Sendable () async -> Void

    /// Returns what `find` knows of a token; `nil` for a wrong one.
    ///
    /// - Parameter find: compares the token.
    func check<Found>(_ token: String, of context: CollectorRequestContext, _ find: (String) -> Found?) async -> Found?
    {
        if let found = find(token) {
            unauthenticated.markAuthenticated(context.channel)
            return found
        }
        await slow(token, of: context)
        return nil
    }

    /// Counts a wrong token, and waits if its address gave many. A connection has one request at a time, so it gets one answer in
    /// each delay.
    func slow(_ token: String, of context: CollectorRequestContext) async {
        if attempts.add(token, of: context.remoteAddress) { await delay() }
    }
}

/// Counts the wrong tokens of each address, in logins and in header fields, so that nobody can try tokens by the thousand. A
/// wrong token counts once a minute, so a sender that repeats an old one is not slowed. Safe to use from any task.
final class TokenAttempts: Sendable {
    /// The maximum number of wrong tokens from an address in a minute that are answered at once.
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

    /// Counts a wrong token, and returns whether its address gave too many in this minute.
    func add(_ token: String, of address: String) -> Bool {
        let minute = now() / Self.minute
        return wrong.withLock { wrong in
            if wrong.count >= Self.maxAddresses { wrong = wrong.filter { $0.value.minute == minute } }
            if wrong.count >= Self.maxAddresses { wrong = [:] }
            var known = wrong[address] ?? Wrong(minute: minute)
            if known.minute != minute { known = Wrong(minute: minute) }
            if known.tokens.count <= Self.most { known.tokens.insert(token.hashValue) }
            wrong[address] = known
            return known.tokens.count > Self.most
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
        if let given = BearerToken.given(in: request),
            await gate.check(given, of: context, { tokens.contain($0) ? true : nil }) != nil
        {
            return try await next(request, context)
        }
        // The answer has no WWW-Authenticate, although RFC 9110 requires it: URLSession on Linux (6.3.1) never returns from a
        // 401 that has it.
        return try refuse(request, 401, "the ingest token is missing or wrong", context)
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
