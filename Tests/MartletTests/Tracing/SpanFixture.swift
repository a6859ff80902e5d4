import MartletTelemetry
import Synchronization
import Tracing

@testable import Martlet

/// Runs `body` with a recorder instead of an agent's, and returns its records of `host`. Requests of other tests of
/// this process are left out.
func recorded(
    by host: String = SpanFixture.host, _ change: (inout MartletConfiguration) -> Void = { _ in },
    _ body: () async throws -> Void
) async rethrows -> SpanFixture {
    var configuration = MartletConfiguration()
    configuration.sampleRate = 1
    change(&configuration)
    let recorder = Recorder(configuration)
    CaptureSwitch.connect(to: recorder)
    defer { CaptureSwitch.disconnect() }
    try await body()
    let interval = recorder.drain().interval
    return SpanFixture(
        requests: interval.series.filter { $0.key.host == host || $0.key.kind == .server }.mapValues(\.duration.count),
        spans: interval.details.filter { $0.request.map { $0.host == host || $0.kind == .server } ?? true })
}

/// Makes and ends a span with these attributes.
func span(_ kind: SpanKind, _ attributes: SpanAttributes, error: (any Error)? = nil, status: SpanStatus? = nil) {
    let span = MartletTracer().startSpan("span", ofKind: kind)
    span.attributes = attributes
    if let error { span.recordError(error) }
    if let status { span.setStatus(status) }
    span.end()
}

struct SpanFixture {
    static let host = "spans.example"

    /// The count of each combination of dimensions.
    let requests: [RequestDimensions: UInt64]
    let spans: [SpanRecord]

    /// `METHOD endpoint status error count`, sorted.
    var counts: [String] {
        requests.map { dimensions, count in
            "\(dimensions.kind) \(dimensions.method) \(dimensions.endpoint) \(dimensions.status.map(String.init) ?? "-") "
                + "\(dimensions.error ?? "-") \(count)"
        }.sorted()
    }

    func span(_ name: String) -> SpanRecord? { spans.first { $0.name == name } }
}

extension MartletTracer {
    /// Records a client's request as a span like AsyncHTTPClient's.
    func request(
        _ path: String = "/users/7", status: Int? = 200, within context: ServiceContext = .current ?? .topLevel,
        _ body: (MartletSpan) -> Void = { _ in }
    ) {
        let span = startSpan("GET", context: context, ofKind: .client)
        span.attributes["http.request.method"] = "GET"
        span.attributes["url.full"] = "https://\(SpanFixture.host)\(path)"
        body(span)
        if let status { span.attributes["http.status_code"] = status }
        span.end()
    }
}

/// Headers in a dictionary, as a program has them.
struct Headers: Injector, Extractor {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }

    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
}
