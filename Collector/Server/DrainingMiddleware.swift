import Hummingbird

/// Refuses requests that come while the collector finishes those that it is at. Senders try again after a 503 (OTLP
/// specification, "Retryable Response Codes"), and find the collector's successor.
struct DrainingMiddleware<Context: RequestContext>: RouterMiddleware {
    let requests: RequestsInWork

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard requests.enter() else { return try refusal(of: request) }
        defer { requests.leave() }
        return try await next(request, context)
    }

    /// Senders and readers are told each in their own form.
    private func refusal(of request: Request) throws -> Response {
        let message = "the collector is stopping; try again later"
        var response =
            IngestSignal(path: request.uri.path) != nil
            ? try Response.otlpFailure(status: 503, message: message, to: request)
            : try Response.json(Problem(error: message), status: .serviceUnavailable)
        response.headers[.retryAfter] = "1"
        return response
    }
}
