import Hummingbird

/// Answers what no route answers, in a sentence of the collector's own: nothing of a request comes back in it.
struct PlainFailures<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            let sentence = error.status == .notFound ? "there is nothing at this address" : "this is no good request"
            return try Response.json(Problem(error: sentence), status: error.status)
        }
    }
}
