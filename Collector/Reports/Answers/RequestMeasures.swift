/// The figures of a group of requests.
package struct RequestMeasures: Sendable, Equatable, Codable {
    package var count: UInt64
    package var perSecond: Double
    package var failures: Failures
    /// Durations in milliseconds; zeros, and `null` in JSON, without requests.
    package var latency: Latency
    /// Means over the requests that had the phase, in milliseconds, by ``RequestPhase``; empty if no request had any.
    package var phases: [String: Double]
    package var bytes: Bytes
    /// 0...1, see ``Apdex``; `null` in JSON without requests.
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

extension RequestMeasures {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        count = try container.decode(UInt64.self, forKey: .count)
        perSecond = try container.decode(Double.self, forKey: .perSecond)
        failures = try container.decode(Failures.self, forKey: .failures)
        latency =
            try container.decodeIfPresent(Latency.self, forKey: .latency)
            ?? Latency(mean: 0, p50: 0, p75: 0, p90: 0, p95: 0, p99: 0, max: 0)
        phases = try container.decode([String: Double].self, forKey: .phases)
        bytes = try container.decode(Bytes.self, forKey: .bytes)
        apdex = try container.decodeIfPresent(Double.self, forKey: .apdex) ?? 1
        impact = try container.decode(Double.self, forKey: .impact)
        fromSpans = try container.decodeIfPresent(UInt64.self, forKey: .fromSpans)
        changedByRules = try container.decodeIfPresent(UInt64.self, forKey: .changedByRules)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encode(perSecond, forKey: .perSecond)
        try container.encode(failures, forKey: .failures)
        try container.encode(count > 0 ? latency : nil, forKey: .latency)
        try container.encode(phases, forKey: .phases)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(count > 0 ? apdex : nil, forKey: .apdex)
        try container.encode(impact, forKey: .impact)
        try container.encodeIfPresent(fromSpans, forKey: .fromSpans)
        try container.encodeIfPresent(changedByRules, forKey: .changedByRules)
    }

    /// Returns a figure that is known only if there are requests; not a number without any.
    func ofRequests(_ figure: Double) -> Double { count > 0 ? figure : .nan }
}
