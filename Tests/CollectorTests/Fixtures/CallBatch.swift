import MartletStorage
import MartletTelemetry

/// The requests that a service made to hosts, and those that it served as hosts.
enum CallBatch {
    /// Returns a batch of 10 s, of which all requests arrived.
    static func body(
        _ service: String, _ requests: [(kind: RequestKind, host: String, count: Int, error: String?)]
    ) throws -> [UInt8] {
        var series: [RequestDimensions: RequestStatistics] = [:]
        for (kind, host, count, error) in requests {
            var dimensions = Samples.dimensions(kind, status: error == nil ? 200 : nil, error: error)
            (dimensions.host, dimensions.port) = (host, 443)
            series[dimensions] = Samples.statistics(Array(repeating: 0.1, count: count))
        }
        let count = UInt64(requests.reduce(0) { $0 + $1.count })
        return try MetricsBatch(
            resource: Samples.resource(service, instance: "\(service)-1"), start: Samples.time(40),
            end: Samples.time(50), series: series, ledger: Ledger(captured: count, waiting: count)
        ).otlp()
    }

    /// Returns the requests of one service, kind, host, error and system.
    static func group(
        _ service: String, _ kind: RequestKind, _ host: String, _ durations: [Double], status: Int? = 200,
        error: String? = nil, system: String? = nil
    ) -> RequestGroup {
        let dimensions = Samples.dimensions(kind, status: status, error: error)
        return Samples.group(
            [service, kind.rawValue, host, error, system], [(dimensions, Samples.statistics(durations))])
    }
}
