import MartletStorage
import MartletTelemetry

/// The ends of processes that were reported since the collector started, by service, version and cause. They only grow. A new
/// series shows 0 at first, as in ``RequestTotals``. A plain value.
package struct EndTotals: Sendable {
    /// The most series. Beyond it, ends are counted under the service `{other}`, only by their cause.
    package static let maxSeries = 1_000

    fileprivate struct Series: Hashable {
        var service: String
        var environment: String?
        var version: String?
        let cause: EndCause
    }

    private struct Entry {
        var count: UInt64 = 0
        let since: ContinuousClock.Instant
    }

    private var entries: [Series: Entry] = [:]
    private let zeroTime: Duration
    private let maxSeries: Int

    /// - Parameter scrapeInterval: the longest interval of a Prometheus. A new series shows 0 for one and a half of it.
    package init(scrapeInterval: Duration = .zero, maxSeries: Int = Self.maxSeries) {
        (zeroTime, self.maxSeries) = (scrapeInterval * 3 / 2, maxSeries)
    }

    /// Adds the ends that metrics bring. Each end must be added only once.
    package mutating func add(_ metrics: InstanceMetrics, at now: ContinuousClock.Instant) {
        for end in metrics.ends {
            var series = Series(
                service: metrics.resource.service, environment: metrics.resource.environment, version: end.version,
                cause: end.cause)
            if entries[series] == nil, entries.count >= maxSeries {
                (series.service, series.environment, series.version) = (RequestDimensions.other, nil, nil)
            }
            entries[series, default: Entry(since: now)].count += 1
        }
    }

    /// Returns the totals as a page shows them at a time; empty if there are none.
    package func text(at now: ContinuousClock.Instant) -> String {
        guard !entries.isEmpty else { return "" }
        // Series that differ only in characters that labels cannot hold are one.
        let samples = Dictionary(
            entries.map { series, entry in
                (PrometheusLabels(series), now - entry.since >= zeroTime ? entry.count : 0)
            }, uniquingKeysWith: &+)
        var text = PrometheusText()
        let name = "martlet_process_ends_total"
        text.begin(name, .counter, "Processes that ended, as agents reported it, by cause.")
        for (labels, count) in samples.sorted(by: { $0.key.text < $1.key.text }) { text.add(name, count, labels) }
        return text.text
    }
}

extension PrometheusLabels {
    fileprivate init(_ series: EndTotals.Series) {
        self = [
            "service_name": series.service, "deployment_environment_name": series.environment,
            "service_version": series.version, "cause": series.cause.rawValue,
        ]
    }
}
