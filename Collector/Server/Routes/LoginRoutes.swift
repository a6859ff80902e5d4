import HTTPTypes
import Hummingbird
import HummingbirdCore
import MartletPage

/// The login to the page, for a collector with a read token.
struct LoginRoutes: Sendable {
    /// The maximum bytes of a form.
    private static let maxFormBytes = 8192

    let access: ReaderAccess

    func add(to router: RouterGroup<CollectorRequestContext>) {
        let group = router.group()
        group.add(
            middleware: SameOriginMiddleware {
                Response(
                    page: RefusalPage.html("Nothing has changed", "The request came from a page of another site."),
                    status: .forbidden)
            })
        group.post("login") { request, context in try await logIn(request, context) }
        // After a wrong token the browser shows this address. It changes nothing, so any link may lead here.
        router.get("login") { _, _ in Response(status: .seeOther, headers: [.location: "/"]) }
        group.post("logout") { request, _ in
            if let session = access.session(of: request) { access.sessions.end(session.id) }
            return Response(status: .seeOther, headers: [.location: "/", .setCookie: access.endedCookie])
        }
        router.refuseOtherMethods(at: "login", than: [.get, .post], PageRoutes.refusal)
        router.refuseOtherMethods(at: "logout", than: [.post], PageRoutes.refusal)
    }

    /// The form appears at the requested address, so that the address stays.
    static func form(_ request: Request) -> Response {
        Response(page: LoginPage.html(next: destination(request.uri.string)), status: .unauthorized)
    }

    private func logIn(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let body = try await request.body.collect(upTo: Self.maxFormBytes)
        let form = Dictionary(Request.pairs(ofForm: String(buffer: body))) { first, _ in first }
        let next = Self.destination(form["next"] ?? "/")
        let given = form["token"] ?? ""
        guard let token = access.tokens?.token(given) else {
            await access.gate.slow(given, of: context)
            return Response(
                page: LoginPage.html(next: next, problem: "The read token is wrong."), status: .unauthorized)
        }
        let id = access.sessions.begin(with: token)
        return Response(status: .seeOther, headers: [.location: next, .setCookie: access.cookie(id)])
    }

    /// Returns the text if it is an address of this server, and the overview's address otherwise. A browser reads `//` and
    /// `/\\` as the start of another host, so they are excluded.
    static func destination(_ text: String) -> String {
        let path = text.prefix { $0 != "?" }
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.allSatisfy({ (0x21..<0x7f).contains($0) }),
            !path.contains("//"), !path.contains("\\")
        else { return "/" }
        return text
    }
}
