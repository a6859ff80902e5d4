import HTTPTypes
import Hummingbird
import MartletPage

/// Answers a request without a route, and other failures of Hummingbird, in a sentence of the collector's own that quotes
/// nothing of the request.
struct PlainFailures<Context: RequestContext>: RouterMiddleware {
    /// Whether senders are served here.
    let takesTelemetry: Bool

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            return try failure(error.status, to: request)
        }
    }

    /// Returns an answer in OTLP for a sender, as a page for a browser that looks for one, and in JSON for other readers.
    private func failure(_ status: HTTPResponse.Status, to request: Request) throws -> Response {
        let sentence = status == .notFound ? "nothing is served at this path" : "the request is not valid"
        guard takesTelemetry, let signal = IngestSignal(path: request.uri.path) else {
            if status == .notFound, Self.isForPage(request) {
                return Response(
                    page: RefusalPage.html("Nothing is here", "The page has no view at this address."), status: status)
            }
            return try Response.json(Problem(error: sentence), status: status)
        }
        guard status == .notFound, signal != .other else {
            return try Response.otlpFailure(status: status.code, message: sentence, to: request)
        }
        var response = try Response.otlpFailure(status: 405, message: "only POST is allowed at this path", to: request)
        response.headers[.allow] = "POST"
        return response
    }

    /// Whether a browser asks for a page, and not for an answer of the API.
    private static func isForPage(_ request: Request) -> Bool {
        request.headers[.accept]?.contains("text/html") == true && !request.uri.path.hasPrefix("/api/")
    }
}
