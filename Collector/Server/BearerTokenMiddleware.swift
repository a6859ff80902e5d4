import Hummingbird

/// Lets requests pass that carry `Authorization: Bearer <token>` (RFC 6750, section 2.1).
struct BearerTokenMiddleware<Context: RequestContext>: RouterMiddleware {
    let token: String
    let refuse: @Sendable () throws -> Response

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let given = Self.token(in: request.headers[.authorization]), Self.areEqual(given, token) else {
            // Without WWW-Authenticate, against RFC 9110: URLSession on Linux (6.3.1) never returns from a 401 with it.
            return try refuse()
        }
        return try await next(request, context)
    }

    private static func token(in header: String?) -> String? {
        guard let header, header.prefix(7).lowercased() == "bearer " else { return nil }
        return String(header.dropFirst(7))
    }

    /// Takes as long for a wrong first byte as for a wrong last one.
    private static func areEqual(_ one: String, _ other: String) -> Bool {
        let (a, b) = (Array(one.utf8), Array(other.utf8))
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
