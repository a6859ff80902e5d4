import Hummingbird

/// Refuses requests that another site made a browser send. A browser sends a person's cookies with them, and needs nobody's
/// consent for a form.
///
/// A browser says where a request comes from in `Sec-Fetch-Site` (Fetch Metadata Request Headers, section 2.3), or at least in
/// `Origin` (RFC 6454, section 7). A request with neither comes from a program.
struct SameOriginMiddleware<Context: RequestContext>: RouterMiddleware {
    let refuse: @Sendable (Request) throws -> Response

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard isOfOneOrigin(request) else { return try refuse(request) }
        return try await next(request, context)
    }

    private func isOfOneOrigin(_ request: Request) -> Bool {
        if let site = HTTPFields.Element.Name("Sec-Fetch-Site").flatMap({ request.headers[$0] }) {
            // A person who types the address, or follows a bookmark, sends `none`.
            return ["same-origin", "none"].contains(site)
        }
        guard let origin = request.headers[.origin] else { return true }
        // The scheme is left out: a proxy in front of the collector may have the one of the browser.
        guard let host = request.head.authority, let start = origin.range(of: "://") else { return false }
        return origin[start.upperBound...].lowercased() == host.lowercased()
    }
}
