import MartletStorage

/// The collector's own figures for Prometheus.
package enum PrometheusCollector {
    private static let prefix = "martlet_collector_"

    /// - Parameters:
    ///   - storeBytes: `nil` if the store does not tell its size.
    ///   - store: `nil` if the store does not answer.
    ///   - freeBytes: the free room on its disk; `nil` if it does not tell it.
    package static func text(
        of counters: CollectorCounters, series: Int, storeBytes: UInt64?, store: StorageState?, freeBytes: UInt64?,
        version: String
    ) -> String {
        var text = PrometheusText()
        text.begin(prefix + "build_info", .gauge, "Always 1; the label has the version of the collector.")
        text.add(prefix + "build_info", UInt64(1), ["version": version])
        writeIntake(counters, to: &text)
        writeStore(counters, bytes: storeBytes, to: &text)
        writeMaintenance(counters, freeBytes: freeBytes, to: &text)
        if let store { write(store, to: &text) }
        text.gauge("exported_series", "Series of requests; this page has at most as many.", UInt64(series))
        return text.text
    }

    private static func writeIntake(_ counters: CollectorCounters, to text: inout PrometheusText) {
        text.begin(prefix + "requests_total", .counter, "Requests to /v1, by signal and status of the answer.")
        let answers = counters.answers.sorted { ($0.key.signal, $0.key.status) < ($1.key.signal, $1.key.status) }
        for (answer, count) in answers {
            text.add(prefix + "requests_total", count, ["signal": answer.signal, "status": "\(answer.status)"])
        }
        text.gauge("requests_in_flight", "Requests to /v1 that are not answered yet.", UInt64(counters.inFlight))
        text.reasons(
            "rejected_requests_total", "Requests to /v1 that were refused as a whole, by reason.",
            counters.rejectedRequests)
        text.counter("ingested_points_total", "Metric points that were stored.", counters.points)
        text.counter("ingested_spans_total", "Spans that were stored.", counters.spans)
        text.counter("ignored_points_total", "Metric points that are not about HTTP requests.", counters.ignoredPoints)
        text.reasons("rejected_points_total", "Metric points that were rejected, by reason.", counters.rejectedPoints)
        text.reasons("rejected_spans_total", "Spans that were rejected, by reason.", counters.rejectedSpans)
        text.counter(
            "duplicate_batches_total", "Batches that were sent again and had been stored before.",
            counters.duplicateBatches)
        text.counter(
            "overlapping_batches_total", "Batches that overlap with earlier ones; their requests may be counted twice.",
            counters.overlappingBatches)
    }

    private static func writeStore(_ counters: CollectorCounters, bytes: UInt64?, to text: inout PrometheusText) {
        let commits = prefix + "commit_duration_seconds"
        text.begin(commits, .histogram, "Time that the store took to commit a batch.")
        text.add(commits, counters.commits)
        text.counter("commit_failures_total", "Batches that could not be stored.", counters.failedCommits)
        if let bytes { text.gauge("store_size_bytes", "Size of the store on disk.", bytes) }
    }

    private static func writeMaintenance(
        _ counters: CollectorCounters, freeBytes: UInt64?, to text: inout PrometheusText
    ) {
        let latest = prefix + "last_maintenance_timestamp_seconds"
        text.begin(latest, .gauge, "End of the latest whole pass of roll-up and expiry; the start if none has ended.")
        text.add(latest, counters.maintained)
        text.counter(
            "maintenance_failures_total", "Passes of roll-up and expiry that failed.", counters.failedMaintenance)
        if let freeBytes { text.gauge("store_disk_free_bytes", "Free room on the disk of the store.", freeBytes) }
    }
}

extension PrometheusCollector {
    private static func write(_ store: StorageState, to text: inout PrometheusText) {
        text.gauge("store_used_bytes", "Size of the store's pages in use, which --max-store limits.", store.bytesInUse)
        text.gauge("store_limit_bytes", "The value of --max-store.", store.maxBytes)
        text.gauge("store_log_bytes", "Size of the store's log.", store.logBytes)
        text.begin(
            prefix + "clock_jump_seconds", .gauge,
            "Seconds by which the clock jumped and is not believed yet, so that nothing is deleted by age; 0 if it is.")
        text.add(prefix + "clock_jump_seconds", store.clockJump)
        let details = prefix + "early_details_total"
        text.begin(details, .counter, "Details that were deleted before their age, by the limit that they were past.")
        text.add(details, store.crowdedDetails, ["limit": "details"])
        text.add(details, store.shedDetails, ["limit": "store"])
        text.counter(
            "early_chunks_total",
            "Rows of points of 10 s or a minute that were deleted before their age for --max-store.",
            store.shedChunks)
        text.counter(
            "uncounted_cumulative_points_total",
            "Points of cumulative streams that were not counted, because of --max-cumulative-streams.",
            store.uncountedPoints)
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
