import Hummingbird

/// Lets those pass who may read (``ReaderAccess``).
struct ReaderMiddleware<Context: RequestContext>: RouterMiddleware {
    let access: ReaderAccess
    /// See ``ReaderAccess/admits(_:sessionsMayChange:)``.
    var sessionsMayChange = false
    let refuse: @Sendable (Request) throws -> Response

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard access.admits(request, sessionsMayChange: sessionsMayChange) else { return try refuse(request) }
        return try await next(request, context)
    }
}
