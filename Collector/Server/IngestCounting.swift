import Hummingbird
import MartletReports

/// Counts requests to `/v1` by signal and status, and those that are being answered.
struct IngestCounting<Context: RequestContext>: RouterMiddleware {
    let activity: CollectorActivity

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        activity.count { $0.inFlight += 1 }
        defer { activity.count { $0.inFlight -= 1 } }
        let response = try await next(request, context)
        let answer = CollectorCounters.Answer(signal: Self.signal(of: request.uri.path), status: response.status.code)
        activity.count { $0.answers[answer, default: 0] += 1 }
        return response
    }

    /// As few as there are.
    private static func signal(of path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return ["metrics", "traces", "logs"].contains(name) ? name : "other"
    }
}
