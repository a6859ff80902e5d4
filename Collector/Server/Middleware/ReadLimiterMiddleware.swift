import Hummingbird

/// Admits as many reads at once as the limiter has slots. Each keeps its slot until its answer was sent or its client has
/// left.
struct ReadLimiterMiddleware: RouterMiddleware {
    typealias Context = CollectorRequestContext

    let limiter: ReadLimiter

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            guard let slot = try await context.whileClientIsThere({ try await limiter.enter() }) else {
                return try refusal("too many clients are reading at the same time; try again later")
            }
            return try await next(request, context).sent(in: slot, over: context.channel)
        } catch is CancellationError {
            // Two kinds of clients read this: one that ended only its sending side, and any client of a collector that
            // stops.
            return try refusal("the request was ended early, because its connection or the collector is closing")
        }
    }

    private func refusal(_ message: String) throws -> Response {
        var response = try Response.json(Problem(error: message), status: .serviceUnavailable)
        response.headers[.retryAfter] = String(ServerLimits.retryAfterSeconds)
        return response
    }
}
