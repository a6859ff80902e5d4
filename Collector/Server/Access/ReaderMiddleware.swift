import Hummingbird

/// Lets those pass who may read (``ReaderAccess``).
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
        case .right: return try await next(request, context)
        case .wrong: return try refuse(request)
        case .notNow:
            var response = try Response.json(Problem(error: TokenGate.tooManyWrong), status: .tooManyRequests)
            response.headers[.retryAfter] = String(TokenGate.waitSeconds)
            return response
        }
    }
}
