import MartletStorage
import MartletTelemetry

/// A service `todos` that serves `/gallery` and other paths, and calls `files`.
enum Gallery {
    static let window = TimeWindow(from: Samples.time(60), to: Samples.time(120))
    static let before = TimeWindow(from: Samples.time(0), to: Samples.time(60))
    static let filter = RequestFilter([.kind: ["server"], .method: ["GET"], .endpoint: ["/gallery"]])

    static func served(_ endpoint: String = "/gallery", status: Int = 200) -> RequestDimensions {
        RequestDimensions(
            kind: .server, method: "GET", host: "", port: 0, endpoint: endpoint, status: status,
            error: status >= 500 ? String(status) : nil)
    }

    static func called(_ endpoint: String = "/files/{name}", status: Int = 200) -> RequestDimensions {
        RequestDimensions(
            kind: .client, method: "GET", host: "files", port: 80, endpoint: endpoint, status: status,
            error: status >= 400 ? String(status) : nil)
    }

    /// Stores counts of ten seconds: the requests, their number, and the seconds that each took.
    static func count(
        _ requests: [(RequestDimensions, Int, seconds: Double)], end: UInt64 = 110, of service: String = "todos",
        in storage: some Storage
    ) async throws {
        let points = requests.map { Samples.point($0, Array(repeating: $2, count: $1), end: end) }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(service), points: points)], of: nil)
    }

    static func span(
        _ number: UInt8, _ request: RequestDimensions, in trace: UInt8, under parent: UInt8? = nil,
        at second: UInt64 = 105
    ) -> SpanRecord {
        var span = Samples.detail(number)
        span.traceID = Samples.detail(trace).traceID
        (span.parentSpanID, span.start) = (parent.flatMap { SpanID(UInt64($0)) }, Samples.time(second))
        (span.kind, span.request) = (request.kind == .client ? .client : .server, request)
        (span.name, span.isError) = (SpanRecord.name(of: request), request.error != nil)
        return span
    }

    static func keep(_ spans: [SpanRecord], of service: String = "todos", in storage: some Storage) async throws {
        _ = try await storage.store([DetailsBatch(resource: Samples.resource(service), details: spans)], of: nil)
    }
}
