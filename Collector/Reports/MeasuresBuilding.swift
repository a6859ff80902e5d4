import MartletStorage
import MartletTelemetry

extension RequestMeasures {
    /// - Parameters:
    ///   - seconds: of the report's window.
    ///   - timeOfAll: seconds that all requests of the report took.
    init(_ group: RequestGroup, seconds: Double, timeOfAll: Double) {
        let statistics = group.statistics
        let duration = statistics.duration
        self.init(
            count: duration.count,
            perSecond: share(Double(duration.count), of: seconds),
            failures: Failures(group),
            latency: Latency(duration),
            phases: Self.phases(statistics.phases),
            bytes: Bytes(sent: statistics.bytesSent, received: statistics.bytesReceived),
            apdex: Apdex.score(unfailed: group.unfailed.duration, failed: group.failed.duration.count),
            impact: share(duration.sum, of: timeOfAll), fromSpans: group.fromSpans > 0 ? group.fromSpans : nil)
    }

    private static func phases(_ totals: PhaseTotals) -> [String: Double] {
        var means: [String: Double] = [:]
        for phase in RequestPhase.allCases {
            if let mean = totals[phase].mean { means[phase.rawValue] = milliseconds(mean) }
        }
        return means
    }
}

extension RequestMeasures.Failures {
    fileprivate init(_ group: RequestGroup) {
        let (failed, outcomes) = (group.failed.duration.count, group.outcomes)
        self.init(
            count: failed, rate: share(Double(failed), of: Double(group.count)),
            transport: outcomes[.transportFailure], http4xx: outcomes[.clientError], http5xx: outcomes[.serverError],
            hung: outcomes[.hung], cancelled: outcomes[.cancelled])
    }
}

extension RequestMeasures.Latency {
    /// Zeros for no requests.
    fileprivate init(_ seconds: ExponentialHistogram) {
        let quantiles = seconds.quantiles([0.5, 0.75, 0.9, 0.95, 0.99, 1]).map { milliseconds($0 ?? 0) }
        self.init(
            mean: milliseconds(seconds.mean), p50: quantiles[0], p75: quantiles[1], p90: quantiles[2],
            p95: quantiles[3], p99: quantiles[4], max: quantiles[5])
    }
}

private func share(_ part: Double, of whole: Double) -> Double {
    whole > 0 ? part / whole : 0
}

/// A sender's bucket may reach past what a Double holds, and JSON has no infinity.
private func milliseconds(_ seconds: Double) -> Double {
    min(max(seconds * 1000, 0), .greatestFiniteMagnitude)
}
