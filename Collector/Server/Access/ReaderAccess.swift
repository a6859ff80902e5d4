import HTTPTypes
import Hummingbird
import MartletTelemetry
import Synchronization

/// Decides who may read. Without read tokens, everyone may. With them, only readers who give one, or whose session began with
/// one.
struct ReaderAccess: Sendable {
    /// `nil` admits everyone.
    let tokens: ReadTokens?
    let sessions: Sessions
    /// Whether readers reach the collector by https, so that the cookie is sent only by https.
    let isTLS: Bool
    let gate: TokenGate

    /// The prefix binds the cookie to this host and to https (RFC 6265bis, section 4.1.3.2).
    private var cookie: String { isTLS ? "__Host-martlet_session" : "martlet_session" }

    /// Returns who sent a request; `nil` if they may not read.
    ///
    /// - Parameter sessionsMayChange: whether a session may do more than read. On the page it may. An API call that changes
    ///   something needs the token, which no other site can make a browser send.
    func reader(
        of request: Request, _ context: CollectorRequestContext, sessionsMayChange: Bool
    ) async -> Reader? {
        let session = session(of: request)
        guard let tokens else { return Reader(token: nil, session: session?.id, address: context.remoteAddress) }
        if let given = BearerToken.given(in: request) {
            guard let token = await gate.check(given, of: context, tokens.token) else { return nil }
            return Reader(token: token, session: nil, address: context.remoteAddress)
        }
        guard sessionsMayChange || [.get, .head].contains(request.method), let session else { return nil }
        gate.unauthenticated.markAuthenticated(context.channel)
        return Reader(token: session.token, session: session.id, address: context.remoteAddress)
    }

    /// The active session that a request names; `nil` if it names none.
    func session(of request: Request) -> (id: String, token: ReadToken)? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for pair in pairs {
            let parts = pair.trimmingPrefix(while: \.isWhitespace).split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == cookie, let token = sessions.token(of: String(parts[1])) else {
                continue
            }
            // A session ends with its token.
            if let token = tokens?.current(token) { return (String(parts[1]), token) }
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

/// The sender of a request that may read.
struct Reader: Sendable {
    /// `nil` if everyone may read.
    let token: ReadToken?
    /// Identifies the reader among others that read at the same time.
    let key: String

    /// - Parameter session: `nil` for a reader without one.
    init(token: ReadToken?, session: String?, address: String) {
        self.token = token
        key = session ?? "\(address) \(token?.name ?? "")"
    }

    /// Whether the reader may delete the kept requests.
    var mayClear: Bool { token?.mayClear ?? true }
}

/// The sessions of users who gave the page a read token. They are kept in memory, so a restart of the collector ends them.
/// Safe to use from any task.
final class Sessions: Sendable {
    /// The time after which a session ends.
    private static let lifetime: UInt64 = 12 * 3_600_000_000_000
    /// The maximum number of sessions at a time. A new session replaces the oldest.
    private static let most = 1000

    private struct Session {
        var begun: UnixNanoseconds
        var token: ReadToken
    }

    private let sessions = Mutex<[String: Session]>([:])
    private let now: @Sendable () -> UnixNanoseconds

    init(now: @escaping @Sendable () -> UnixNanoseconds) {
        self.now = now
    }

    /// Begins a session and returns its id: 256 random bits, and nothing from the token.
    func begin(with token: ReadToken) -> String {
        var random = SystemRandomNumberGenerator()
        let id = (0..<4).map { _ in String(random.next() as UInt64, radix: 16) }.joined(separator: "-")
        let time = now()
        sessions.withLock { sessions in
            sessions = sessions.filter { Self.isAlive($0.value.begun, at: time) }
            if sessions.count >= Self.most, let oldest = sessions.min(by: { $0.value.begun < $1.value.begun }) {
                sessions[oldest.key] = nil
            }
            sessions[id] = Session(begun: time, token: token)
        }
        return id
    }

    /// Returns the token that a session began with; `nil` if the session has ended.
    func token(of id: String) -> ReadToken? {
        let time = now()
        return sessions.withLock { $0[id].flatMap { Self.isAlive($0.begun, at: time) ? $0.token : nil } }
    }

    func end(_ id: String) {
        sessions.withLock { $0[id] = nil }
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
    /// See ``ReaderAccess/reader(of:_:sessionsMayChange:)``.
    var sessionsMayChange = false
    let refuse: @Sendable (Request) throws -> Response

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let reader = await access.reader(of: request, context, sessionsMayChange: sessionsMayChange)
        guard let reader else { return try refuse(request) }
        var context = context
        context.reader = reader
        return try await next(request, context)
    }
}
