import Hummingbird

/// Lets requests pass that carry `Authorization: Bearer <token>` (RFC 6750, section 2.1).
struct BearerTokenMiddleware<Context: RequestContext>: RouterMiddleware {
    let token: String
    let refuse: @Sendable (Request) throws -> Response

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let given = Self.token(in: request.headers[.authorization]), Self.isEqual(given, to: token) else {
            // The answer has no WWW-Authenticate, against RFC 9110: URLSession on Linux (6.3.1) never returns from a 401
            // with it.
            return try refuse(request)
        }
        return try await next(request, context)
    }

    private static func token(in header: String?) -> String? {
        guard let header, header.prefix(7).lowercased() == "bearer " else { return nil }
        return String(header.dropFirst(7))
    }

    /// Returns whether both are equal. Looks at every given byte, so that the time it takes tells nothing of the token,
    /// not even its length.
    private static func isEqual(_ given: String, to token: String) -> Bool {
        let (given, token) = (Array(given.utf8), Array(token.utf8))
        guard !token.isEmpty else { return false }
        var difference = given.count ^ token.count
        for (index, byte) in given.enumerated() {
            difference |= Int(byte ^ token[index % token.count])
        }
        return difference == 0
    }
}
