import Hummingbird

/// Refuses requests that come while the collector finishes those that it is at. Senders try again after a 503 (OTLP
/// specification, "Retryable Response Codes"), and find the collector's successor.
struct DrainingMiddleware<Context: RequestContext>: RouterMiddleware {
    let requests: RequestsInWork

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard requests.enter() else {
            var response = try Response.otlpFailure(
                status: 503, message: "the collector is stopping; send it again later", to: request)
            response.headers[.retryAfter] = "1"
            return response
        }
        defer { requests.leave() }
        return try await next(request, context)
    }
}
