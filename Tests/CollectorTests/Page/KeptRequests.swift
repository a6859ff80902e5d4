import Fixtures
import HummingbirdTesting
import MartletOTLP
import MartletTelemetry
import Testing

/// Requests as a sender reports them, for the views of requests.
enum KeptRequests {
    /// Markup, a joiner, and a character that reverses text.
    static let hostile = "<mark>\u{200d}\u{202e}x\"'&"

    static func span(
        _ number: UInt8, at second: UInt64 = 1, milliseconds: UInt64 = 250,
        _ change: (inout SpanRecord) -> Void = { _ in }
    ) -> SpanRecord {
        var span = Samples.detail(number)
        (span.start, span.durationNanoseconds) = (Samples.time(second), milliseconds * 1_000_000)
        change(&span)
        return span
    }

    static func send(
        _ spans: [SpanRecord], of resource: TelemetryResource = Samples.resource(), to client: any TestClientProtocol
    ) async throws {
        let batch = DetailsBatch(resource: resource, details: spans)
        #expect(try await client.post(try batch.otlp(), to: "/v1/traces").status == .ok)
    }

    /// Counts three requests that failed with 503 and two that did not.
    static func count(to client: any TestClientProtocol) async throws {
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
            series: [
                Samples.dimensions(status: 503, error: "503"): Samples.statistics([0.1, 0.2, 0.3]),
                Samples.dimensions(): Samples.statistics([0.1, 0.1]),
            ], ledger: Ledger(captured: 5, waiting: 5))
        #expect(try await client.post(try batch.otlp()).status == .ok)
    }

    /// Returns the id of the first request of a list.
    static func id(_ query: String = "", from client: any TestClientProtocol) async throws -> String {
        let page = try await client.read("/requests?\(query)")
        let link = try #require(page.links.first { $0.hasPrefix("/requests/") && !$0.hasPrefix("/requests/clear") })
        return String(link.dropFirst("/requests/".count).prefix { $0 != "?" })
    }
}
