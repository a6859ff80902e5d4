import MartletStorage
import MartletTelemetry

/// The figures of a group of requests.
package struct RequestMeasures: Sendable, Equatable, Codable {
    package var count: UInt64
    package var perSecond: Double
    package var failures: Failures
    /// Durations in milliseconds. Without requests they are 0, and `null` in JSON.
    package var latency: Latency
    /// The mean duration of each phase in milliseconds, over the requests that had it, by ``RequestPhase``; empty if no request
    /// had any.
    package var phases: [String: Double]
    package var bytes: Bytes
    /// 0...1, see ``Apdex``; `null` in JSON without requests.
    package var apdex: Double
    /// The group's share of the time that all requests of the report took, 0...1.
    package var impact: Double
    /// The number of requests that are known only from spans, because their sender sends no metrics. Requests that the sender
    /// did not sample are missing. `nil`, and left out, if there are none.
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
        /// Cancelled requests, which are not failures.
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

    /// Returns a figure that is defined only if there are requests; otherwise NaN.
    func ofRequests(_ figure: Double) -> Double { count > 0 ? figure : .nan }
}

// These are methods of the values, because initializers would copy them.

extension RequestGroup {
    /// Returns all measures except ``impact(among:)``, which depends on the other groups.
    ///
    /// - Parameter seconds: the length of the time for the rate.
    package func measures(seconds: Double) -> RequestMeasures {
        let (succeeded, failed) = (succeeded, failed)
        var phases = succeeded.phases
        phases.merge(failed.phases)
        return RequestMeasures(
            count: count,
            perSecond: share(Double(count), of: seconds),
            failures: failures,
            latency: latency,
            phases: phases.means,
            bytes: RequestMeasures.Bytes(
                sent: succeeded.bytesSent &+ failed.bytesSent, received: succeeded.bytesReceived &+ failed.bytesReceived
            ),
            apdex: Apdex.score(succeeded: succeeded.duration, failed: failed.requests),
            impact: 0, fromSpans: fromSpans > 0 ? fromSpans : nil,
            changedByRules: changed > 0 ? changed : nil)
    }

    /// Returns a quantile of all durations, in milliseconds; `nil` if there are no requests.
    package func milliseconds(_ quantile: Double) -> Double? {
        quantiles([quantile])[0].map(Milliseconds.of)
    }

    /// The latency in milliseconds; zeros if there were no requests.
    private var latency: RequestMeasures.Latency {
        let quantiles = quantiles([0.5, 0.75, 0.9, 0.95, 0.99, 1]).map { Milliseconds.of($0 ?? 0) }
        return RequestMeasures.Latency(
            mean: Milliseconds.of(count > 0 ? time / Double(count) : 0), p50: quantiles[0], p75: quantiles[1],
            p90: quantiles[2], p95: quantiles[3], p99: quantiles[4], max: quantiles[5])
    }

    /// Returns the group's share of the time that all requests took, from 0 to 1.
    package func impact(among all: RequestGroup) -> Double {
        // The share may slightly exceed 1, because adding the same seconds in another order may round differently.
        min(1, share(time, of: all.time))
    }

    private var failures: RequestMeasures.Failures {
        let failed = failed.requests
        return RequestMeasures.Failures(
            count: failed, rate: share(Double(failed), of: Double(count)),
            transport: outcomes[.transportFailure], http4xx: outcomes[.clientError], http5xx: outcomes[.serverError],
            hung: outcomes[.hung], cancelled: outcomes[.cancelled])
    }
}

extension PhaseTotals {
    fileprivate var means: [String: Double] {
        var means: [String: Double] = [:]
        for phase in RequestPhase.allCases {
            if let mean = self[phase].mean { means[phase.rawValue] = Milliseconds.of(mean) }
        }
        return means
    }
}

private func share(_ part: Double, of whole: Double) -> Double {
    whole > 0 ? part / whole : 0
}

/// The satisfaction of callers, 0...1 (Apdex Technical Specification 1.1). A request within ``target`` counts fully, and a request
/// within four times as long counts half. A slower or failed request does not count.
enum Apdex {
    /// The longest request that satisfies a caller, in seconds.
    static let target = 0.5

    /// Returns 1 if there were no requests, because no caller had to wait. A cancelled request counts with its duration until it
    /// was cancelled.
    static func score(succeeded: ExponentialHistogram, failed: UInt64) -> Double {
        let all = succeeded.count &+ failed
        guard all > 0 else { return 1 }
        let satisfied = Double(succeeded.countOfValues(upTo: target))
        let tolerated = Double(succeeded.countOfValues(upTo: 4 * target)) - satisfied
        return (satisfied + tolerated / 2) / Double(all)
    }
}

/// The failure rates that are possible with missing requests: from the rate if none of them failed to the rate if all of them did.
package struct FailureBounds: Sendable, Equatable {
    package let lowest: Double
    package let highest: Double

    /// Returns `nil` if nothing is missing.
    ///
    /// - Parameters:
    ///   - failed: failed requests, among those that arrived.
    ///   - count: requests that arrived.
    ///   - missing: the largest number of requests that may not have arrived.
    package init?(failed: UInt64, of count: UInt64, missing: UInt64) {
        guard missing > 0 else { return nil }
        let all = Double(count) + Double(missing)
        lowest = Double(min(failed, count)) / all
        highest = (Double(min(failed, count)) + Double(missing)) / all
    }

    /// Both rates in per cent, such as `3.02–5.72`.
    package var text: String { FigureText.percent(lowest) + "–" + FigureText.percent(highest) }
}
