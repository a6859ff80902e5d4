import Hummingbird

/// Answers requests that may take long away from the event loop, which has other connections to serve: see
/// ``EventLoopExecutor``.
struct LongWorkMiddleware<Context: RequestContext>: RouterMiddleware {
    let mayTakeLong: @Sendable (Request) -> Bool

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard mayTakeLong(request) else { return try await next(request, context) }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await next(request, context) }
    }
}

extension LongWorkMiddleware {
    /// Reports, of whatever size.
    static var always: Self { Self { _ in true } }

    /// Bodies of telemetry that are larger than so many bytes, or do not say how large they are.
    static func bodies(largerThan maxBytes: Int) -> Self {
        Self { request in request.headers[.contentLength].flatMap { Int($0) }.map { $0 > maxBytes } ?? true }
    }
}
