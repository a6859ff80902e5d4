/// The figures of a group of requests.
package struct RequestMeasures: Sendable, Equatable, Codable {
    package var count: UInt64
    package var perSecond: Double
    package var failures: Failures
    /// Durations in milliseconds.
    package var latency: Latency
    /// Means over the requests that had the phase, in milliseconds, by ``RequestPhase``; empty if no request had any.
    package var phases: [String: Double]
    package var bytes: Bytes
    /// 0...1, see ``Apdex``.
    package var apdex: Double
    /// The group's share of the time that all requests of the report took, 0...1.
    package var impact: Double
    /// Requests that are known from spans alone, because their sender sends no metrics; requests that it did not sample are
    /// missing. `nil`, and left out, if there are none.
    package var fromSpans: UInt64?
    /// Requests that a rule of their agent changed (`martlet.rule`). `nil`, and left out, if there are none.
    package var changedByRules: UInt64?

    package struct Failures: Sendable, Equatable, Codable {
        /// Failed requests. Clients: transport, 4xx, 5xx and hung. Servers: transport, 5xx and hung.
        package var count: UInt64
        package var rate: Double
        package var transport: UInt64
        package var http4xx: UInt64
        package var http5xx: UInt64
        package var hung: UInt64
        /// Cancelled requests, which are no failures.
        package var cancelled: UInt64

        private enum CodingKeys: String, CodingKey {
            case count, rate, transport, hung, cancelled
            case http4xx = "http_4xx"
            case http5xx = "http_5xx"
        }
    }

    package struct Latency: Sendable, Equatable, Codable {
        package var mean: Double
        package var p50: Double
        package var p75: Double
        package var p90: Double
        package var p95: Double
        package var p99: Double
        package var max: Double
    }

    package struct Bytes: Sendable, Equatable, Codable {
        package var sent: UInt64
        package var received: UInt64
    }

    private enum CodingKeys: String, CodingKey {
        case count, failures, bytes, apdex, impact
        case perSecond = "per_second"
        case fromSpans = "from_spans"
        case changedByRules = "changed_by_rules"
        case latency = "latency_ms"
        case phases = "phases_ms"
    }
}
