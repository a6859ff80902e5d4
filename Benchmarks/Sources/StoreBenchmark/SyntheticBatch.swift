import MartletStorage
import MartletTelemetry

/// The points of one sender. Each point is an endpoint with 40 adjacent buckets, as in the measurements of the peers.
struct SyntheticBatch: Sendable {
    private let sender: Int
    private let resource: TelemetryResource
    private let series: [(dimensions: RequestDimensions, statistics: RequestStatistics)]

    /// - Parameter hasSizes: whether the points also have the sizes of bodies, as those of agents do. On the wire, that is two
    ///   more points.
    init(sender: Int, points: Int, hasSizes: Bool = true) {
        self.sender = sender
        resource = TelemetryResource(
            service: "service-\(sender)", version: "1.0", environment: "production", instance: "instance-\(sender)",
            host: "host-\(sender)", captureMode: "automatic", agent: "martlet 0.1.0")
        series = (0..<points).map { index in
            let dimensions = RequestDimensions(
                kind: .client, method: "GET", host: "api.example.com", port: 443, endpoint: "/resources/\(index)/{id}",
                status: 200, error: nil)
            var statistics = RequestStatistics()
            for step in 0..<40 {
                for _ in 0...(step % 3) {
                    statistics.record(
                        seconds: 0.02 * Self.power(1.00543, step), bytesSent: hasSizes ? 100 : 0,
                        bytesReceived: hasSizes ? 2000 : 0)
                }
            }
            return (dimensions, statistics)
        }
    }

    func id(_ sequence: UInt64) -> BatchID {
        BatchID(instance: "instance-\(sender)", sequence: sequence, signal: .metrics)
    }

    func metrics(end: UnixNanoseconds) -> InstanceMetrics {
        InstanceMetrics(
            resource: resource,
            points: series.map {
                RequestPoint(
                    dimensions: $0.dimensions, start: end - 10_000_000_000, end: end, statistics: $0.statistics)
            })
    }

    /// Returns the points as a batch in the form that an agent sends.
    func batch(end: UnixNanoseconds) -> MetricsBatch {
        MetricsBatch(
            resource: resource, start: end - 10_000_000_000, end: end,
            series: Dictionary(uniqueKeysWithValues: series.map { ($0.dimensions, $0.statistics) }),
            ledger: Ledger(captured: 0))
    }

    private static func power(_ base: Double, _ exponent: Int) -> Double {
        (0..<exponent).reduce(1) { product, _ in product * base }
    }
}
