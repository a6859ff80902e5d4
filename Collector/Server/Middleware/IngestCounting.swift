import Hummingbird
import MartletPrometheus

/// Counts requests to `/v1` by signal and status, refused requests included, and the requests that are being answered.
struct IngestCounting<Context: RequestContext>: RouterMiddleware {
    let activity: CollectorActivity

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let signal = IngestSignal(path: request.uri.path) else { return try await next(request, context) }
        activity.count { $0.inFlight += 1 }
        defer { activity.count { $0.inFlight -= 1 } }
        let response = try await next(request, context)
        let answer = CollectorCounters.Answer(signal: signal.rawValue, status: response.status.code)
        activity.count { $0.answers[answer, default: 0] += 1 }
        return response
    }
}
