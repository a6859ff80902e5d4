import Hummingbird

/// Refuses new requests while the collector finishes the requests in work before it stops. Senders try again after a 503
/// (OTLP specification, "Retryable Response Codes"), and find the collector's successor.
struct DrainingMiddleware<Context: RequestContext>: RouterMiddleware {
    let requests: RequestsInWork

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard requests.enter() else { return try refusal(of: request) }
        defer { requests.leave() }
        return try await next(request, context)
    }

    /// Returns a refusal in OTLP for a sender, and in JSON for a reader.
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
