/// The collector's own figures for Prometheus.
package enum PrometheusCollector {
    private static let prefix = "martlet_collector_"

    /// - Parameter storeBytes: `nil` if the store does not tell its size.
    package static func text(
        of counters: CollectorCounters, series: Int, storeBytes: UInt64?, version: String
    ) -> String {
        var text = PrometheusText()
        text.begin(prefix + "build_info", .gauge, "1, with the version as a label.")
        text.add(prefix + "build_info", UInt64(1), ["version": version])
        writeIntake(counters, to: &text)
        writeStore(counters, bytes: storeBytes, to: &text)
        text.gauge("exported_series", "Series that requests are counted in; the page has no more.", UInt64(series))
        return text.text
    }

    private static func writeIntake(_ counters: CollectorCounters, to text: inout PrometheusText) {
        text.begin(prefix + "requests_total", .counter, "Requests to /v1, by signal and the answer's status.")
        let answers = counters.answers.sorted { ($0.key.signal, $0.key.status) < ($1.key.signal, $1.key.status) }
        for (answer, count) in answers {
            text.add(prefix + "requests_total", count, ["signal": answer.signal, "status": "\(answer.status)"])
        }
        text.gauge("requests_in_flight", "Requests to /v1 that are not answered yet.", UInt64(counters.inFlight))
        text.counter("ingested_points_total", "Points of metrics that were stored.", counters.points)
        text.counter("ingested_spans_total", "Spans that were stored.", counters.spans)
        text.counter("ignored_points_total", "Points about something else than HTTP.", counters.ignoredPoints)
        text.reasons("rejected_points_total", "Points of metrics that were not taken.", counters.rejectedPoints)
        text.reasons("rejected_spans_total", "Spans that were not taken.", counters.rejectedSpans)
        text.counter("duplicate_batches_total", "Batches that had been stored before.", counters.duplicateBatches)
        text.counter(
            "overlapping_batches_total", "Batches whose requests may count twice.", counters.overlappingBatches)
    }

    private static func writeStore(_ counters: CollectorCounters, bytes: UInt64?, to text: inout PrometheusText) {
        let commits = prefix + "commit_duration_seconds"
        text.begin(commits, .histogram, "Time from a batch's decoding to the answer of the store.")
        text.add(commits, counters.commits)
        text.counter("commit_failures_total", "Batches that could not be stored.", counters.failedCommits)
        if let bytes { text.gauge("store_size_bytes", "What the store takes on the disk.", bytes) }
    }
}

extension PrometheusText {
    fileprivate mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
        begin("martlet_collector_" + name, .counter, help)
        add("martlet_collector_" + name, value)
    }

    fileprivate mutating func gauge(_ name: String, _ help: String, _ value: UInt64) {
        begin("martlet_collector_" + name, .gauge, help)
        add("martlet_collector_" + name, value)
    }

    fileprivate mutating func reasons(_ name: String, _ help: String, _ counts: [String: UInt64]) {
        begin("martlet_collector_" + name, .counter, help)
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) {
            add("martlet_collector_" + name, count, ["reason": reason])
        }
    }
}
