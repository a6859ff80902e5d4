import Foundation
import MartletOTLP
import MartletTelemetry

/// The interval that is over, while batches are made of it and until they are stored.
struct PendingInterval {
    private let configuration: MartletConfiguration
    private let identity: TelemetryResource
    private let capture: EffectiveCapture
    private var lastReason: String?
    private var lastRules = 0
    private let recorder: Recorder
    private let log: AgentLog
    private let board: StatusBoard
    private let keeper: JournalKeeper
    private var process: ProcessWatch
    private var taken: Taken?
    /// Bytes of the batches that were made of the interval and are not stored yet.
    private var encoded = 0
    /// The capture gap reported by the last batch, in nanoseconds.
    private var lastCaptureGap: UInt64 = 0
    private var wasWatching = true
    /// Whether the instance ends, so that the next interval is its last.
    var isEnding = false
    /// Whether the end is in a batch that is stored.
    private(set) var hasReportedEnd = false

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: EffectiveCapture,
        recorder: Recorder, log: AgentLog, board: StatusBoard, keeper: JournalKeeper, delays: DelayProbes
    ) {
        self.configuration = configuration
        identity = resource
        self.capture = capture
        lastReason = capture.reason
        self.recorder = recorder
        self.log = log
        self.board = board
        self.keeper = keeper
        process = ProcessWatch(delays)
    }

    /// Whether an interval was taken out of the journal and is not stored yet.
    var isTaken: Bool { taken != nil }

    /// Returns whether there is something to report other than losses.
    ///
    /// - Parameter isCallerWaiting: whether a caller waits. If so, a changed capture gap is reported too.
    func isNew(_ isCallerWaiting: Bool) -> Bool {
        !recorder.isEmpty || capture.now(restrictedBy: recorder).reason != lastReason
            || recorder.rules.count != lastRules
            || isCaptureGapNew(isCallerWaiting)
    }

    /// Notes that the batches are stored.
    mutating func end() {
        if taken?.isLast == true { hasReportedEnd = true }
        taken = nil
        recorder.noteReleased()
        board.noteEncoding(0)
    }

    /// Returns whether to report the capture gap. Its beginning and its end are reported at once, and its length if a
    /// caller waits.
    private func isCaptureGapNew(_ isCallerWaiting: Bool) -> Bool {
        recorder.captureGap.isCounting == wasWatching
            || (isCallerWaiting && recorder.captureGap.nanoseconds() != lastCaptureGap)
    }

    private struct Taken {
        var sequence: UInt64
        var resource: TelemetryResource
        var interval: RecordedInterval
        var captured: UInt64
        var process: ProcessStatistics
        /// Whether the batch reports the end of the instance.
        var isLast: Bool
    }

    /// Takes the interval that is over out of the journal.
    ///
    /// - Returns: `false` if the other bank is not free, or a service's thread is still writing a record. Writing takes
    ///   nanoseconds, unless the kernel has stopped the thread.
    mutating func take() -> Bool {
        if keeper.closedSequence == nil { guard recorder.closeSegments({ keeper.close() }) else { return false } }
        guard let sequence = keeper.closedSequence, let lanes = awaitWritten() else { return false }
        ShippingMilestone.closed.reach()
        for lane in lanes { recorder.fold(lane) }
        wasWatching = !recorder.captureGap.isCounting
        let (interval, captured) = recorder.drain()
        lastCaptureGap = interval.captureGap
        let capture = capture.now(restrictedBy: recorder)
        var resource = identity
        resource.captureMode = capture.mode.rawValue
        resource.captureReason = capture.reason
        lastReason = capture.reason
        lastRules = recorder.rules.count
        resource.rules = lastRules == 0 ? nil : lastRules
        taken = Taken(
            sequence: sequence, resource: resource, interval: interval, captured: captured,
            process: process.next(interval.end - min(interval.start, interval.end)),
            isLast: isEnding && !hasReportedEnd)
        return true
    }

    private func awaitWritten() -> [JournalKeeper.ClosedLane]? {
        let deadline = Clock.monotonic() &+ MartletLimits.lastRecordWait.nanoseconds
        while true {
            if let lanes = keeper.closedLanes() { return lanes }
            guard Clock.monotonic() < deadline else { return nil }
            sched_yield()
        }
    }

    /// Returns the batches of the pending interval; `nil` if they cannot be encoded, which only a lack of memory
    /// causes.
    mutating func encode() -> SealedInterval? {
        guard let taken else { return nil }
        encoded = 0
        let interval = taken.interval
        let ledger = board.status.ledger(captured: taken.captured)
        var metrics = MetricsBatch(
            resource: taken.resource, start: interval.start, end: interval.end, series: interval.series,
            sizes: interval.sizes, instanceStart: recorder.start, ledger: ledger, captureGap: interval.captureGap,
            agentCPU: AgentCost.total, process: taken.process)
        if taken.isLast {
            metrics.ends = [InstanceEnd(instance: identity.instance, cause: .clean, time: interval.end)]
        }
        do {
            let batch = try batch(metrics.otlp(), .metrics, taken.sequence, requests: metrics.requests)
            return SealedInterval(
                metrics: batch, details: details(of: taken), detailCount: interval.details.count,
                dropped: ledger.dropped, isLast: taken.isLast)
        } catch {
            log.warn(of: .encoding, "A batch cannot be encoded; the agent will try again: \(Sealer.sentence(error))")
            return nil
        }
    }

    private mutating func details(of taken: Taken) -> EncodedBatch? {
        guard !taken.interval.details.isEmpty else { return nil }
        let details = DetailsBatch(resource: taken.resource, details: taken.interval.details)
        return try? batch(details.otlp(), .traces, taken.sequence)
    }

    private mutating func batch(
        _ message: [UInt8], _ signal: Signal, _ sequence: UInt64, requests: UInt64 = 0
    ) throws -> EncodedBatch {
        let isCompressed = configuration.compression == .gzip
        // The compressed bytes may take as much memory as the uncompressed ones.
        board.noteEncoding(encoded + (isCompressed ? 2 : 1) * message.count)
        let batch = try EncodedBatch(
            message, sequence: sequence, signal: signal, requests: requests, isCompressed: isCompressed)
        encoded += batch.body.count
        board.noteEncoding(encoded)
        return batch
    }
}

/// An interval as batches: one of metrics and, if details were kept, one of traces.
struct SealedInterval {
    var metrics: EncodedBatch
    /// `nil` if no details were kept, or they could not be encoded.
    var details: EncodedBatch?
    /// The number of details that were kept.
    var detailCount: Int
    /// The losses that the batch's ledger reports.
    var dropped: [DropReason: UInt64]
    /// Whether the batch of metrics reports the end of the instance.
    var isLast: Bool

    var sequence: UInt64 { metrics.file.sequence }
}
