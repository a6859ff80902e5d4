import Fixtures
import Foundation
import HummingbirdTesting
import MartletOTLP
import MartletTelemetry
import Testing

/// Requests of an endpoint, and the address of the endpoint's page.
enum EndpointRequests {
    static let address =
        "/endpoint?since=1m&service=checkout&kind=client&method=GET&host=api.example.com:443&endpoint=/users/%7Bid%7D"

    static func repeated(_ seconds: Double, _ count: Int) -> RequestStatistics {
        Samples.statistics(Array(repeating: seconds, count: count))
    }
}

extension TestClientProtocol {
    /// Stores requests that ended in the ten seconds before `end`, which is in seconds after the beginning of the minute.
    func store(
        _ series: [RequestDimensions: RequestStatistics], end: UInt64, service: String = "checkout"
    ) async throws {
        let batch = MetricsBatch(
            resource: Samples.resource(service), start: Samples.time(end) - 10_000_000_000, end: Samples.time(end),
            series: series, ledger: Ledger(captured: 1))
        #expect(try await post(try batch.otlp()).status == .ok)
    }

    /// Stores a minute with 100 requests of ``EndpointRequests/address``, and before it a minute with 50. Only the later requests
    /// time out.
    func storeTwoMinutes() async throws {
        try await store(
            [
                Samples.dimensions(): EndpointRequests.repeated(0.05, 49),
                Samples.dimensions(status: 503, error: "503"): EndpointRequests.repeated(0.05, 1),
            ], end: 0)
        var slow = EndpointRequests.repeated(0.1, 80)
        slow.phases = Samples.phases([.queue: (80, 0.08), .connect: (20, 0.4), .firstByte: (80, 7.2)])
        try await store(
            [
                Samples.dimensions(): slow,
                Samples.dimensions(status: nil, error: "timeout"): EndpointRequests.repeated(2, 15),
                Samples.dimensions(status: 503, error: "503"): EndpointRequests.repeated(0.1, 5),
            ], end: 20)
    }
}
