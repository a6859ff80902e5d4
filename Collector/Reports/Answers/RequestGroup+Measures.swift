import MartletStorage
import MartletTelemetry

// These are methods of the values, because initializers would take copies.

extension RequestGroup {
    /// Returns all measures but ``impact(among:)``, which depends on the other groups.
    ///
    /// - Parameter seconds: the length of the time that the rate is about.
    package func measures(seconds: Double) -> RequestMeasures {
        let (unfailed, failed) = (unfailed, failed)
        var phases = unfailed.phases
        phases.merge(failed.phases)
        return RequestMeasures(
            count: count,
            perSecond: share(Double(count), of: seconds),
            failures: failures,
            latency: latency,
            phases: phases.means,
            bytes: RequestMeasures.Bytes(
                sent: unfailed.bytesSent &+ failed.bytesSent, received: unfailed.bytesReceived &+ failed.bytesReceived),
            apdex: Apdex.score(unfailed: unfailed.duration, failed: failed.requests),
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

    /// Returns the share of the time that all requests took, from 0 to 1.
    package func impact(among all: RequestGroup) -> Double {
        // The same seconds in another order may have another rounding.
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
