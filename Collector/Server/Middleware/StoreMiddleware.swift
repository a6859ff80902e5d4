import HTTPTypes
import Hummingbird
import MartletTelemetry

/// Names the store in each answer to a sender, refusals included. An agent with several collectors knows from it which of them
/// have one store, and that it was a collector that refused a batch, and not a proxy that may have passed it on.
struct StoreMiddleware<Context: RequestContext>: RouterMiddleware {
    let id: String

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard IngestSignal(path: request.uri.path) != nil, let name = HTTPField.Name(StoreHeader.name) else {
            return response
        }
        response.headers[name] = id
        return response
    }
}
