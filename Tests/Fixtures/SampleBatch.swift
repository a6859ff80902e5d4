import Foundation
import MartletTelemetry

/// Batches of random requests, as an agent makes them.
package struct SampleBatch {
    package var resource = TelemetryResource(service: "shop", instance: "a", captureMode: "automatic")
    package var endpoints = 3
    package var requestsPerEndpoint = 20
    package var random: SeededGenerator
    /// The start of the next interval, in seconds since 1970.
    package var time: UInt64 = 1_800_000_000
    /// The number of requests captured so far.
    package var captured: UInt64 = 0

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns the batch of the next interval of 10 s.
    package mutating func next() -> MetricsBatch {
        var series: [RequestDimensions: RequestStatistics] = [:]
        for endpoint in 0..<endpoints {
            let dimensions = RequestDimensions(
                kind: endpoint % 5 == 4 ? .server : .client, method: "GET", host: "api.example.com", port: 443,
                endpoint: "/endpoints/\(endpoint)/{id}", status: 200, error: nil)
            series[dimensions] = statistics()
        }
        let start = time * 1_000_000_000
        time += 10
        captured += UInt64(endpoints * requestsPerEndpoint)
        return MetricsBatch(
            resource: resource, start: start, end: time * 1_000_000_000, series: series,
            ledger: Ledger(captured: captured, waiting: captured))
    }

    /// Returns random latencies: around 50 ms, and a few far slower. They are whole 1024ths of a second, so that their sum does
    /// not depend on their order.
    private mutating func statistics() -> RequestStatistics {
        var statistics = RequestStatistics()
        for _ in 0..<requestsPerEndpoint {
            let normal = (0..<4).reduce(0.0) { sum, _ in sum + .random(in: -1...1, using: &random) }
            let seconds = (exp(normal - 3) * 1024).rounded(.up) / 1024
            var phases = PhaseDurations()
            phases[.firstByte] = UInt64(seconds * 5e8)
            phases[.transfer] = UInt64(seconds * 2.5e8)
            statistics.record(
                seconds: seconds, bytesSent: 0, bytesReceived: .random(in: 0...5000, using: &random), phases: phases)
        }
        return statistics
    }
}
