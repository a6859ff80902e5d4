import MartletStorage
import MartletTelemetry

/// Adds up the requests of one row, whatever their outcome.
struct RequestTally {
    private(set) var statistics = RequestStatistics()
    /// Those that did not fail, for the Apdex.
    private var unfailed = ExponentialHistogram()
    private var outcomes: [RequestOutcome: UInt64] = [:]
    private var failed: UInt64 = 0
    private var fromSpans: UInt64 = 0

    mutating func add(_ other: RequestStatistics, of group: RequestGroup) {
        statistics.merge(other)
        outcomes[group.outcome, default: 0] &+= other.duration.count
        if group.source == .spans { fromSpans &+= other.duration.count }
        if group.outcome.isFailure(for: group.kind) {
            failed &+= other.duration.count
        } else {
            unfailed.merge(other.duration)
        }
    }

    /// Adds the requests of another row.
    mutating func merge(_ other: RequestTally) {
        statistics.merge(other.statistics)
        unfailed.merge(other.unfailed)
        outcomes.merge(other.outcomes) { $0 &+ $1 }
        failed &+= other.failed
        fromSpans &+= other.fromSpans
    }

    /// - Parameter timeOfAll: seconds that all requests of the report took.
    func measures(seconds: Double, timeOfAll: Double) -> RequestMeasures {
        let duration = statistics.duration
        return RequestMeasures(
            count: duration.count,
            perSecond: Self.share(Double(duration.count), of: seconds),
            failures: failures,
            latency: RequestMeasures.Latency(duration),
            phases: phases,
            bytes: RequestMeasures.Bytes(sent: statistics.bytesSent, received: statistics.bytesReceived),
            apdex: Apdex.score(unfailed: unfailed, failed: failed),
            impact: Self.share(duration.sum, of: timeOfAll), fromSpans: fromSpans > 0 ? fromSpans : nil)
    }

    private var phases: [String: Double] {
        var means: [String: Double] = [:]
        for phase in RequestPhase.allCases { means[phase.rawValue] = statistics.phases[phase].mean.map(milliseconds) }
        return means
    }

    private var failures: RequestMeasures.Failures {
        RequestMeasures.Failures(
            count: failed, rate: Self.share(Double(failed), of: Double(statistics.duration.count)),
            transport: outcomes[.transportFailure] ?? 0, http4xx: outcomes[.clientError] ?? 0,
            http5xx: outcomes[.serverError] ?? 0, hung: outcomes[.hung] ?? 0, cancelled: outcomes[.cancelled] ?? 0)
    }

    private static func share(_ part: Double, of whole: Double) -> Double {
        whole > 0 ? part / whole : 0
    }
}

extension RequestMeasures.Latency {
    /// Zeros for no requests.
    fileprivate init(_ seconds: ExponentialHistogram) {
        func quantile(_ q: Double) -> Double { milliseconds(seconds.quantile(q) ?? 0) }
        self.init(
            mean: milliseconds(seconds.mean), p50: quantile(0.5), p75: quantile(0.75), p90: quantile(0.9),
            p95: quantile(0.95), p99: quantile(0.99), max: quantile(1))
    }
}

/// A sender's bucket may reach past what a Double holds, and JSON has no infinity.
private func milliseconds(_ seconds: Double) -> Double {
    min(max(seconds * 1000, 0), .greatestFiniteMagnitude)
}
