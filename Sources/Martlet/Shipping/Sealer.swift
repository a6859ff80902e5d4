import Foundation
import MartletOTLP
import MartletTelemetry

/// Turns what was recorded in an interval into batches in the outbox.
struct Sealer: ~Copyable {
    private let configuration: MartletConfiguration
    private let identity: TelemetryResource
    private let capture: CaptureState
    private var lastMode: CaptureMode
    private let recorder: Recorder
    private let log: AgentLog
    private let shipper: Shipper
    private var keeper: JournalKeeper
    private var closedSequence: UInt64 = 0
    private var pending: Pending?
    private var lastSeal: UInt64?
    private var lastMeasure: UInt64?
    private(set) var service: URL?

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: CaptureState, recorder: Recorder,
        log: AgentLog,
        shipper: Shipper
    ) {
        self.configuration = configuration
        identity = resource
        self.capture = capture
        lastMode = capture.mode
        self.recorder = recorder
        self.log = log
        self.shipper = shipper
        keeper = JournalKeeper(recorder.journal)
    }

    /// The first directory that can be written; `nil`, and a reason in `status`, when none can.
    mutating func makeOutbox() -> Outbox? {
        var problems: [String] = []
        let environment = ProcessInfo.processInfo.environment
        for candidate in BufferDirectory.candidates(for: configuration, environment: environment) {
            do {
                let outbox = try Outbox.create(instance: identity.instance, in: candidate)
                use(candidate, insteadOf: problems)
                return outbox
            } catch {
                problems.append("\(candidate.path): \(Self.sentence(error))")
            }
        }
        fail(problems.joined(separator: "; "))
        return nil
    }

    /// One batch of metrics and, where details were kept, one of traces. What cannot be stored is tried again at the next
    /// call, and until then nothing else: its requests are in the journal, and so are those that come.
    mutating func seal(into outbox: borrowing Outbox, isAsked: Bool) {
        guard storePending(in: outbox) else { return }
        let isNew = !recorder.isEmpty || capture.now.mode != lastMode
        guard isNew || isHeartbeatDue(isAsked: isAsked), takeInterval() else { return }
        _ = storePending(in: outbox)
    }

    /// What was taken out of the journal and is no batch yet.
    private struct Pending {
        var sequence: UInt64
        var resource: TelemetryResource
        var interval: RecordedInterval
        var captured: UInt64
    }

    /// `false` while a service's thread is still writing a record: it is a matter of nanoseconds, or the thread was stopped.
    private mutating func takeInterval() -> Bool {
        if !keeper.isClosed {
            let sequence = keeper.sequence
            guard recorder.noteClosed({ keeper.close() }) else { return false }
            closedSequence = sequence
        }
        guard let segments = awaitWritten() else { return false }
        ShippingStep.closed.reach()
        for segment in segments { recorder.fold(segment) }
        let (interval, captured) = recorder.drain()
        let capture = capture.now
        var resource = identity
        resource.captureMode = capture.mode.rawValue
        resource.captureReason = capture.reason
        lastMode = capture.mode
        pending = Pending(sequence: closedSequence, resource: resource, interval: interval, captured: captured)
        return true
    }

    private func awaitWritten() -> [JournalKeeper.ClosedSegment]? {
        let deadline = Clock.monotonic() &+ MartletLimits.lastRecord.nanoseconds
        while true {
            if let segments = keeper.closedSegments() { return segments }
            guard Clock.monotonic() < deadline else { return nil }
            sched_yield()
        }
    }

    /// `false` where it cannot be stored now.
    private mutating func storePending(in outbox: borrowing Outbox) -> Bool {
        guard let pending else { return true }
        let interval = pending.interval
        let metrics = MetricsBatch(
            resource: pending.resource, start: interval.start, end: interval.end, series: interval.series,
            instanceStart: recorder.start, ledger: shipper.status.ledger(captured: pending.captured))
        do {
            try store(metrics.otlp(), .metrics, pending.sequence, requests: metrics.requests, in: outbox)
        } catch {
            fail(Self.sentence(error))
            return false
        }
        self.pending = nil
        ShippingStep.stored.reach()
        storeDetails(interval.details, of: pending, in: outbox)
        keeper.release()
        noteJournal()
        ShippingStep.released.reach()
        lastSeal = Clock.monotonic()
        shipper.update { $0.bufferError = nil }
        log.again(.buffer, "Batches are stored again")
        return true
    }

    /// Details go first where something has to go: the batch of metrics stands without them.
    private func storeDetails(_ details: [SpanRecord], of pending: Pending, in outbox: borrowing Outbox) {
        guard !details.isEmpty else { return }
        do {
            let batch = DetailsBatch(resource: pending.resource, details: details)
            try store(batch.otlp(), .traces, pending.sequence, in: outbox)
        } catch {
            recorder.countDroppedDetails(details.count)
        }
    }

    /// Counts what is in the buffer anew, now and then: other instances of the service change it too.
    mutating func measureBuffer() {
        guard let cap, Clock.hasPassed(MartletLimits.bufferMeasure, since: lastMeasure) else { return }
        lastMeasure = Clock.monotonic()
        shipper.update { $0.bufferedBytes = cap.size }
    }

    /// Segments are made in the outbox's directory from now on; `nil` for in memory.
    mutating func keepJournal(in outbox: borrowing Outbox) {
        keeper.move(to: outbox.directory)
        noteJournal()
    }

    /// Makes room for what is recorded while the interval goes on; `true` where it should rather end.
    mutating func makeRoomInJournal() -> Bool { keeper.makeRoom() }

    /// The last use.
    mutating func close() { keeper.finish() }

    // MARK: -

    private func noteJournal() {
        let (bytes, problem) = (keeper.bytes, keeper.problem)
        shipper.update { $0.journalBytes = bytes }
        if let problem {
            log.once(.journal, "A killed process loses what it recorded since the last interval: \(problem)")
        } else {
            log.again(.journal, "What is recorded survives a killed process again")
        }
    }

    private func isHeartbeatDue(isAsked: Bool) -> Bool {
        !isAsked && Clock.hasPassed(MartletLimits.heartbeat, since: lastSeal)
    }

    private func store(
        _ bytes: [UInt8], _ signal: Signal, _ sequence: UInt64, requests: UInt64 = 0, in outbox: borrowing Outbox
    ) throws {
        let isCompressed = configuration.compression == .gzip
        let body = isCompressed ? try Gzip.compress(bytes) : bytes
        let file = BatchFile(
            sequence: sequence, signal: signal, requests: requests, isCompressed: isCompressed)
        guard makeRoom(for: body.count) else { return drop(requests, wasStored: false) }
        try outbox.store(body, as: file)
        shipper.update {
            $0.store(requests)
            $0.bufferedBytes += body.count
        }
    }

    /// Looks at the files only when the count says that room is short.
    private func makeRoom(for bytes: Int) -> Bool {
        guard shipper.status.bufferedBytes + bytes > configuration.bufferMax, let cap else { return true }
        let evicted = cap.makeRoom(for: bytes)
        for entry in evicted ?? [] where entry.instance == identity.instance {
            drop(entry.file.requests, wasStored: true)
        }
        shipper.update { $0.bufferedBytes = cap.size }
        return evicted != nil
    }

    private var cap: BufferCap? {
        service.map { BufferCap(service: $0, limit: configuration.bufferMax) }
    }

    private func drop(_ requests: UInt64, wasStored: Bool) {
        shipper.update { $0.drop(requests, .bufferFull, wasStored: wasStored) }
        log.once(.bufferFull, "The buffer is full (MARTLET_BUFFER_MAX); the oldest batches make room")
    }

    private mutating func use(_ directory: URL, insteadOf problems: [String]) {
        service = directory
        shipper.update {
            $0.bufferDirectory = directory
            $0.bufferError = nil
        }
        guard !problems.isEmpty else { return }
        log.once(.directory, "Batches are kept in \(directory.path), because of \(problems.joined(separator: "; "))")
    }

    private func fail(_ problem: String) {
        shipper.update { $0.bufferError = problem }
        log.once(.buffer, "Batches cannot be stored, counting goes on in memory: \(problem)")
    }

    private static func sentence(_ error: any Error) -> String {
        (error as? WholeFile.Failure)?.description ?? (error as NSError).localizedDescription
    }
}
