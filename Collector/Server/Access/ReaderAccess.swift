import HTTPTypes
import Hummingbird

/// The rule that decides who may read: everyone if there is no read token, and otherwise those who give it, or a session that
/// began with it.
struct ReaderAccess: Sendable {
    /// `nil` admits everyone.
    let token: String?
    let sessions: Sessions
    /// Whether the collector is reached by https, so that the cookie is too.
    let isTLS: Bool
    let gate: TokenGate

    /// The prefix binds the cookie to this host and to https (RFC 6265bis, section 4.1.3.2).
    private var cookie: String { isTLS ? "__Host-martlet_session" : "martlet_session" }

    /// - Parameter sessionsMayChange: whether a session may do more than read. On the page it may; an API call that changes
    ///   something takes the token, which no other site can make a browser send.
    func verdict(
        on request: Request, of context: CollectorRequestContext, sessionsMayChange: Bool
    ) -> TokenGate.Verdict {
        guard let token else { return .right }
        if let given = BearerToken.given(in: request) {
            return gate.verdict(on: given, of: context) { SecretText.isEqual($0, to: token) }
        }
        guard sessionsMayChange || [.get, .head].contains(request.method), session(of: request) != nil else {
            return .wrong
        }
        gate.newcomers.admit(context.channel)
        return .right
    }

    /// The id of the living session that a request names; `nil` if it names none.
    func session(of request: Request) -> String? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for pair in pairs {
            let parts = pair.trimmingPrefix(while: \.isWhitespace).split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == cookie, sessions.contains(String(parts[1])) { return String(parts[1]) }
        }
        return nil
    }

    /// The cookie of a session, until the browser ends. Scripts cannot read it, and other sites cannot send it along with a
    /// form.
    func cookie(_ id: String) -> String {
        "\(cookie)=\(id); Path=/; HttpOnly; SameSite=Lax" + (isTLS ? "; Secure" : "")
    }

    /// The cookie that removes a session's.
    var endedCookie: String { cookie("") + "; Max-Age=0" }
}
