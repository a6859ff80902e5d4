import HTTPTypes
import Hummingbird
import MartletTelemetry
import Synchronization

/// Decides who may read. Without a read token, everyone may. With one, only readers who give it, or whose session began with
/// it.
struct ReaderAccess: Sendable {
    /// `nil` admits everyone.
    let token: String?
    let sessions: Sessions
    /// Whether readers reach the collector by https, so that the cookie is sent only by https.
    let isTLS: Bool
    let gate: TokenGate

    /// The prefix binds the cookie to this host and to https (RFC 6265bis, section 4.1.3.2).
    private var cookie: String { isTLS ? "__Host-martlet_session" : "martlet_session" }

    /// - Parameter sessionsMayChange: whether a session may do more than read. On the page it may. An API call that changes
    ///   something needs the token, which no other site can make a browser send.
    func verdict(
        on request: Request, of context: CollectorRequestContext, sessionsMayChange: Bool
    ) -> TokenGate.Verdict {
        guard let token else { return .accepted }
        if let given = BearerToken.given(in: request) {
            return gate.verdict(on: given, of: context) { SecretText.isEqual($0, to: token) }
        }
        guard sessionsMayChange || [.get, .head].contains(request.method), session(of: request) != nil else {
            return .rejected
        }
        gate.unauthenticated.markAuthenticated(context.channel)
        return .accepted
    }

    /// The id of the active session that a request names; `nil` if it names none.
    func session(of request: Request) -> String? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for pair in pairs {
            let parts = pair.trimmingPrefix(while: \.isWhitespace).split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == cookie, sessions.contains(String(parts[1])) { return String(parts[1]) }
        }
        return nil
    }

    /// The cookie of a session, which lasts until the browser ends. Scripts cannot read it, and other sites cannot send it with
    /// a form.
    func cookie(_ id: String) -> String {
        "\(cookie)=\(id); Path=/; HttpOnly; SameSite=Lax" + (isTLS ? "; Secure" : "")
    }

    /// The cookie that removes a session's cookie.
    var endedCookie: String { cookie("") + "; Max-Age=0" }
}

/// The sessions of users who gave the page the read token. They are kept in memory, so a restart of the collector ends them.
/// Safe to use from any task.
final class Sessions: Sendable {
    /// The time after which a session ends.
    private static let lifetime: UInt64 = 12 * 3_600_000_000_000
    /// The maximum number of sessions at a time. A new session replaces the oldest.
    private static let most = 1000

    private let begun = Mutex<[String: UnixNanoseconds]>([:])
    private let now: @Sendable () -> UnixNanoseconds

    init(now: @escaping @Sendable () -> UnixNanoseconds) {
        self.now = now
    }

    /// Begins a session and returns its id: 256 random bits, and nothing from the token.
    func begin() -> String {
        var random = SystemRandomNumberGenerator()
        let id = (0..<4).map { _ in String(random.next() as UInt64, radix: 16) }.joined(separator: "-")
        let time = now()
        begun.withLock { begun in
            begun = begun.filter { Self.isAlive($0.value, at: time) }
            if begun.count >= Self.most, let oldest = begun.min(by: { $0.value < $1.value }) { begun[oldest.key] = nil }
            begun[id] = time
        }
        return id
    }

    func contains(_ id: String) -> Bool {
        let time = now()
        return begun.withLock { $0[id].map { Self.isAlive($0, at: time) } ?? false }
    }

    func end(_ id: String) {
        begun.withLock { $0[id] = nil }
    }

    /// If the clock was set back to before a session's start, the session stays alive.
    private static func isAlive(_ begun: UnixNanoseconds, at time: UnixNanoseconds) -> Bool {
        time < begun || time - begun < lifetime
    }
}

/// Admits requests that may read (``ReaderAccess``).
struct ReaderMiddleware: RouterMiddleware {
    typealias Context = CollectorRequestContext

    let access: ReaderAccess
    /// See ``ReaderAccess/verdict(on:of:sessionsMayChange:)``.
    var sessionsMayChange = false
    let refuse: @Sendable (Request) throws -> Response

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        switch access.verdict(on: request, of: context, sessionsMayChange: sessionsMayChange) {
        case .accepted: return try await next(request, context)
        case .rejected: return try refuse(request)
        case .throttled:
            return try Response.json(Problem(error: TokenGate.tooManyWrong), status: .tooManyRequests)
                .retryable(after: TokenGate.waitSeconds)
        }
    }
}
