import Hummingbird

/// Answers requests away from the event loop, which has other connections to serve: see ``EventLoopExecutor``.
struct LongWorkMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await withTaskExecutorPreference(globalConcurrentExecutor) { try await next(request, context) }
    }
}
