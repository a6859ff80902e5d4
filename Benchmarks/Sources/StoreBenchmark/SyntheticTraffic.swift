import Foundation
import MartletStorage
import MartletTelemetry

/// A process of a service with realistic traffic: a few endpoints get most requests (Zipf), and most answers succeed. The same
/// arguments give the same figures.
struct SyntheticTraffic: Sendable {
    private static let outcomes: [(status: Int?, error: String?, share: Double)] = [
        (200, nil, 0.97), (404, "404", 0.015), (500, "500", 0.008), (503, "503", 0.004), (nil, "timeout", 0.003),
    ]

    private struct Series {
        let dimensions: RequestDimensions
        let requestsPerSecond: Double
        /// Median duration in seconds.
        let median: Double
    }

    private let service: Int
    private let process: Int
    private var series: [Series] = []

    init(service: Int, series count: Int, process: Int = 0) {
        (self.service, self.process) = (service, process)
        let endpoints = count / Self.outcomes.count
        let weight = (1...endpoints).reduce(0) { $0 + 1 / Double($1) }
        for endpoint in 0..<endpoints {
            let requestsPerSecond = 5 / Double(endpoint + 1) / weight
            for outcome in Self.outcomes {
                let dimensions = RequestDimensions(
                    kind: endpoint % 3 == 0 ? .server : .client, method: "GET", host: "api-\(service).example.com",
                    port: 443, endpoint: "/resources/\(endpoint)/{id}", status: outcome.status, error: outcome.error)
                series.append(
                    Series(
                        dimensions: dimensions, requestsPerSecond: requestsPerSecond * outcome.share,
                        median: 0.005 * Double(1 + endpoint % 20)))
            }
        }
    }

    func metrics(end: UInt64, seconds: UInt64) -> InstanceMetrics {
        var random = XorShift(seed: end &* 1000 &+ UInt64(service) &+ UInt64(process) << 40)
        let points = series.compactMap { one -> RequestPoint? in
            let expected = one.requestsPerSecond * Double(seconds)
            let whole = Int(expected)
            let requests = whole + (random.unit() < expected - Double(whole) ? 1 : 0)
            guard requests > 0 else { return nil }
            return RequestPoint(
                dimensions: one.dimensions, start: (end - seconds) * 1_000_000_000, end: end * 1_000_000_000,
                statistics: Self.statistics(of: requests, median: one.median, &random))
        }
        return InstanceMetrics(
            resource: TelemetryResource(service: "service-\(service)", instance: "instance-\(service)-\(process)"),
            points: points)
    }

    /// Returns statistics with log-normal durations, spread over about a factor of 40.
    private static func statistics(of requests: Int, median: Double, _ random: inout XorShift) -> RequestStatistics {
        var statistics = RequestStatistics()
        // More requests would not change the shape, and would take long to make.
        for _ in 0..<min(requests, 300) {
            let normal = (0..<4).reduce(-2.0) { sum, _ in sum + random.unit() } * 1.73
            let seconds = median * exp(0.6 * normal)
            var phases = PhaseDurations()
            phases[.firstByte] = UInt64(seconds * 7e8)
            phases[.transfer] = UInt64(seconds * 2e8)
            statistics.record(seconds: seconds, bytesSent: 200, bytesReceived: 3000, phases: phases)
        }
        return statistics
    }
}

/// A random generator with a seed: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003).
private struct XorShift {
    private var state: UInt64

    init(seed: UInt64) {
        state = (seed &+ 1) &* 0x9e37_79b9_7f4a_7c15
        for _ in 0..<3 { _ = unit() }
    }

    /// Returns the next number in 0..<1.
    mutating func unit() -> Double {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Double(state >> 11) / 9_007_199_254_740_992
    }
}
