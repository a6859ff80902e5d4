import HTTPTypes
import Hummingbird
import Logging
import MartletIntake
import MartletPage
import MartletPrometheus
import MartletTelemetry

/// Answers HEAD with the header fields of GET, length included, and without the body (RFC 9110, section 9.3.2). The client
/// would mistake a body for the beginning of the connection's next answer.
struct HeadMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        guard request.method == .head else { return response }
        var headers = response.headers
        // An answer without a length would be sent in chunks, and the last chunk counts as a body.
        if headers[.contentLength] == nil { headers[.contentLength] = String(try await Self.length(of: response.body)) }
        return Response(status: response.status, headers: headers)
    }

    private static func length(of body: ResponseBody) async throws -> Int {
        let counter = ByteCounter()
        try await body.write(counter)
        return counter.bytes
    }
}

private final class ByteCounter: ResponseBodyWriter {
    private(set) var bytes = 0

    func write(_ buffer: ByteBuffer) async throws { bytes += buffer.readableBytes }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Sets these header fields on every answer, unless its route sets them itself. `HeadHandler` has those of refusals. A browser
/// must not guess an answer's type, must not run, keep or frame it, and must not send its address to other sites. The page has
/// its own policy.
struct SecurityHeaders<Context: RequestContext>: RouterMiddleware {
    private let fields: [HTTPFields.Element] = [
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
    ].compactMap { name, value in
        HTTPFields.Element.Name(name).map { HTTPFields.Element(name: $0, value: value) }
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        for field in fields where response.headers[field.name] == nil { response.headers.append(field) }
        return response
    }
}

/// Names the store in each answer to a sender, refusals included. From this, an agent with several collectors knows which of
/// them share a store. It can also distinguish a collector's refusal from that of a proxy, which may have passed the batch on.
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

/// Logs what to change if a sender posts telemetry to a path that does not take any.
struct LostTelemetry: RouterMiddleware {
    let logger: Logger

    func handle(
        _ request: Request, context: CollectorRequestContext,
        next: (Request, CollectorRequestContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        guard response.status.kind == .clientError, request.method == .post,
            [nil, .other].contains(IngestSignal(path: request.uri.path)),
            IntakeFormat(contentType: request.headers[.contentType]) != nil
        else { return response }
        logger.refusal(status: response.status.code, reason: Self.reason(request.uri.path), of: context)
        return response
    }

    private static func reason(_ path: String) -> String {
        let parts = path.split(separator: "/")
        return parts.count { $0 == "v1" } > 1
            ? "the path is there twice; give the sender the address without /v1/metrics or /v1/traces"
            : "there is nothing at this path; send metrics to /v1/metrics and traces to /v1/traces"
    }
}

/// The signal of a path under `/v1`. All unknown paths are ``other``, so that the number of signals stays small.
enum IngestSignal: String {
    case metrics, traces, logs, other

    /// `nil` if the path is not under `/v1`.
    init?(path: String) {
        let parts = path.split(separator: "/")
        guard parts.first == "v1" else { return nil }
        self = parts.count == 2 ? Self(rawValue: String(parts[1])) ?? .other : .other
    }
}

/// Answers requests without a route, and other failures of Hummingbird, in the collector's own words. The answer quotes nothing
/// from the request.
struct PlainFailures<Context: RequestContext>: RouterMiddleware {
    /// Whether this address also serves senders.
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

    /// Returns an OTLP answer for a sender, a page for a browser that requests one, and JSON for other readers.
    private func failure(_ status: HTTPResponse.Status, to request: Request) throws -> Response {
        let sentence = status == .notFound ? "there is nothing at this path" : "the request is not valid"
        guard takesTelemetry, let signal = IngestSignal(path: request.uri.path) else {
            if status == .notFound, Self.isForPage(request) {
                return Response(
                    page: RefusalPage.html("Not found", "There is no view at this address."), status: status)
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

    /// Whether a browser requests a page, and not an answer of the API.
    private static func isForPage(_ request: Request) -> Bool {
        request.headers[.accept]?.contains("text/html") == true && !request.uri.path.hasPrefix("/api/")
    }
}

/// Answers requests away from the event loop, which has other connections to serve: see ``EventLoopExecutor``.
struct LongWorkMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await withTaskExecutorPreference(globalConcurrentExecutor) { try await next(request, context) }
    }
}
