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

    /// The prefix binds the cookie to this host and to https (RFC 6265bis, section 4.1.3.2).
    private var cookie: String { isTLS ? "__Host-martlet_session" : "martlet_session" }

    func admits(_ request: Request) -> Bool {
        guard let token else { return true }
        if let given = BearerToken.given(in: request) { return SecretText.isEqual(given, to: token) }
        // A session reads. An API call that changes something takes the token, which no other site can make a browser send.
        guard [.get, .head].contains(request.method) || isPage(request) else { return false }
        return session(of: request).map(sessions.contains) ?? false
    }

    /// The id of the session that a request names, known or not.
    func session(of request: Request) -> String? {
        for field in request.headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.trimmingPrefix(while: \.isWhitespace).split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == cookie { return String(parts[1]) }
            }
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

    private func isPage(_ request: Request) -> Bool { !request.uri.path.hasPrefix("/api/") }
}
