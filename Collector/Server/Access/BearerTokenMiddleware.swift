import HTTPTypes
import Hummingbird

/// Lets requests pass that carry `Authorization: Bearer <token>` (RFC 6750, section 2.1).
struct BearerTokenMiddleware<Context: RequestContext>: RouterMiddleware {
    let token: String
    let refuse: @Sendable (Request) throws -> Response

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let given = BearerToken.given(in: request), SecretText.isEqual(given, to: token) else {
            // The answer has no WWW-Authenticate, against RFC 9110: URLSession on Linux (6.3.1) never returns from a 401
            // with it.
            return try refuse(request)
        }
        return try await next(request, context)
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
