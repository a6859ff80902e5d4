import Foundation
import MartletStorage

/// The collector's own figures as metrics for Prometheus.
package enum PrometheusCollector {
    private static let prefix = "martlet_collector_"

    /// - Parameters:
    ///   - storeBytes: `nil` if the store does not report its size.
    ///   - store: `nil` if the store does not answer.
    ///   - freeBytes: the free space on its disk; `nil` if unknown.
    package static func text(
        of counters: CollectorCounters, series: Int, storeBytes: UInt64?, store: StorageState?, freeBytes: UInt64?,
        version: String
    ) -> String {
        var text = PrometheusText()
        text.add(
            prefix + "build_info", .gauge, "Always 1; the label has the version of the collector.", 1,
            ["version": version])
        writeIntake(counters, to: &text)
        writeStore(counters, bytes: storeBytes, to: &text)
        writeMaintenance(counters, freeBytes: freeBytes, to: &text)
        if let store { write(store, to: &text) }
        writeNotifications(counters.notifications, to: &text)
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
        text.counter("ignored_points_total", "Metric points that are not about requests.", counters.ignoredPoints)
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
        text.add(
            prefix + "last_maintenance_timestamp_seconds", .gauge,
            "End of the latest whole pass of roll-up and expiry; the start if none has ended.", counters.maintained)
        text.counter(
            "maintenance_failures_total", "Passes of roll-up and expiry that failed.", counters.failedMaintenance)
        if let freeBytes { text.gauge("store_disk_free_bytes", "Free room on the disk of the store.", freeBytes) }
    }
}

extension PrometheusCollector {
    private static func writeNotifications(
        _ receivers: [String: NotificationCounts], to text: inout PrometheusText
    ) {
        guard !receivers.isEmpty else { return }
        let (messages, waiting) = (prefix + "notifications_total", prefix + "notifications_waiting")
        let sorted = receivers.sorted { $0.key < $1.key }
        text.begin(messages, .counter, "Messages about findings, by receiver and what became of them.")
        for (receiver, counts) in sorted {
            text.add(messages, counts.sent, ["receiver": receiver, "result": "sent"])
            text.add(messages, counts.failed, ["receiver": receiver, "result": "failed"])
        }
        text.begin(waiting, .gauge, "Messages about findings that a receiver has not acknowledged yet.")
        for (receiver, counts) in sorted { text.add(waiting, counts.waiting, ["receiver": receiver]) }
    }

    private static func write(_ store: StorageState, to text: inout PrometheusText) {
        text.gauge("store_used_bytes", "Size of the store's pages in use, which --max-store limits.", store.bytesInUse)
        text.gauge("store_limit_bytes", "The value of --max-store.", store.maxBytes)
        text.gauge("store_log_bytes", "Size of the store's log.", store.logBytes)
        text.add(
            prefix + "clock_jump_seconds", .gauge,
            "Seconds by which the clock jumped, while nothing is deleted by age; 0 if the clock is trusted.",
            store.clockJump)
        let details = prefix + "early_details_total"
        text.begin(details, .counter, "Details that were deleted before their age, by the limit that they were past.")
        text.add(details, store.crowdedDetails, ["limit": "details"])
        text.add(details, store.shedDetails, ["limit": "store"])
        text.counter(
            "early_chunks_total",
            "Rows of points of 10 s or a minute that were deleted before their age for --max-store.",
            store.shedChunks)
        text.counter(
            "early_hourly_chunks_total", "Rows of hours that were deleted before their age for --max-store.",
            store.shedHours)
        text.counter(
            "uncounted_cumulative_points_total",
            "Points of cumulative streams that were not counted, because of --max-cumulative-streams.",
            store.uncountedPoints)
    }
}

extension PrometheusText {
    fileprivate mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
        add("martlet_collector_" + name, .counter, help, value)
    }

    fileprivate mutating func gauge(_ name: String, _ help: String, _ value: UInt64) {
        add("martlet_collector_" + name, .gauge, help, value)
    }

    fileprivate mutating func reasons(_ name: String, _ help: String, _ counts: [String: UInt64]) {
        begin("martlet_collector_" + name, .counter, help)
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) {
            add("martlet_collector_" + name, count, ["reason": reason])
        }
    }
}

/// The collector's counts since it started. A plain value.
package struct CollectorCounters: Sendable, Equatable {
    /// The most reasons that are counted separately. There are few, because they are the collector's own sentences.
    static let maxReasons = 100
    static let otherReason = "other"

    /// A request to `/v1/…` and its answer.
    package struct Answer: Sendable, Hashable {
        /// `metrics`, `traces`, `logs`, `other`.
        package var signal: String
        package var status: Int

        package init(signal: String, status: Int) {
            self.signal = signal
            self.status = status
        }
    }

    package var answers: [Answer: UInt64] = [:]
    package var inFlight = 0
    package var points: UInt64 = 0
    package var spans: UInt64 = 0
    /// Points of metrics that are not about requests.
    package var ignoredPoints: UInt64 = 0
    package private(set) var rejectedPoints: [String: UInt64] = [:]
    package private(set) var rejectedSpans: [String: UInt64] = [:]
    package var duplicateBatches: UInt64 = 0
    package var overlappingBatches: UInt64 = 0
    package var commits = ExplicitHistogram(bounds: ExplicitHistogram.commitBounds)
    package var failedCommits: UInt64 = 0
    /// Requests that were rejected completely, by reason.
    package private(set) var rejectedRequests: [String: UInt64] = [:]
    /// When the latest complete pass of maintenance ended, in seconds since 1970. If none has ended, the collector's start.
    package var maintained = 0.0
    package var failedMaintenance: UInt64 = 0
    /// The counts of each receiver, by its name.
    package var notifications: [String: NotificationCounts] = [:]

    package init() {}

    package mutating func rejectRequest(_ reason: String) { Self.add([reason: 1], to: &rejectedRequests) }

    package mutating func rejectPoints(_ reasons: [String: Int]) { Self.add(reasons, to: &rejectedPoints) }

    package mutating func rejectSpans(_ reasons: [String: Int]) { Self.add(reasons, to: &rejectedSpans) }

    private static func add(_ reasons: [String: Int], to counts: inout [String: UInt64]) {
        for (reason, count) in reasons {
            let isKept = counts[reason] != nil || counts.count < maxReasons
            counts[isKept ? reason : otherReason, default: 0] &+= UInt64(clamping: count)
        }
    }
}

/// The messages about findings that a receiver was to get since the collector started.
package struct NotificationCounts: Sendable, Equatable {
    package var sent: UInt64 = 0
    /// Messages that were given up.
    package var failed: UInt64 = 0
    package var waiting: UInt64 = 0

    package init() {}
}

/// The resources of a process as metrics for Prometheus, under the names that all Prometheus client libraries use (Prometheus
/// documentation, "Writing client libraries").
package enum PrometheusProcess {
    package static func text(of figures: OwnProcessFigures) -> String {
        var text = PrometheusText()
        text.add("process_cpu_seconds_total", .counter, "User and system CPU time.", figures.cpuSeconds)
        text.add("process_resident_memory_bytes", .gauge, "Resident memory.", figures.residentBytes)
        text.add("process_virtual_memory_bytes", .gauge, "Virtual memory.", figures.virtualBytes)
        text.add(
            "process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970.", figures.startSeconds)
        text.add("process_open_fds", .gauge, "Open file descriptors.", figures.openFiles)
        text.add("process_max_fds", .gauge, "Maximum number of open file descriptors.", figures.maxFiles)
        return text.text
    }
}

/// The resources that this process uses, from the kernel (proc(5)).
package struct OwnProcessFigures: Sendable, Equatable {
    package var cpuSeconds: Double
    package var residentBytes: UInt64
    package var virtualBytes: UInt64
    /// When the process started, in seconds since 1970.
    package var startSeconds: Double
    package var openFiles: UInt64
    package var maxFiles: UInt64

    /// Returns `nil` if the system has no `/proc`.
    package static func current() -> OwnProcessFigures? {
        guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")"), let boot = bootSeconds(),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        // The name in parentheses may contain spaces. The first field after it is field 3, the state.
        let fields = stat[end...].split(separator: " ").dropFirst().map { UInt64($0) ?? 0 }
        guard fields.count > 21 else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        return OwnProcessFigures(
            cpuSeconds: Double(fields[11] + fields[12]) / ticks,
            residentBytes: fields[21] * UInt64(sysconf(Int32(_SC_PAGESIZE))), virtualBytes: fields[20],
            startSeconds: boot + Double(fields[19]) / ticks, openFiles: UInt64(files.count), maxFiles: maxOpenFiles())
    }

    private static func bootSeconds() -> Double? {
        let lines = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8))?.split(separator: "\n")
        return lines?.first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
    }

    private static func maxOpenFiles() -> UInt64 {
        let lines = (try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8))?.split(separator: "\n")
        let line = lines?.first { $0.hasPrefix("Max open files") }
        return line?.split(separator: " ").dropFirst(3).first.flatMap { UInt64($0) } ?? 0
    }
}
