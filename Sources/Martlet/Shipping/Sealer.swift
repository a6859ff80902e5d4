import Foundation
import MartletOTLP
import MartletTelemetry

/// Turns what was recorded in an interval into batches in the outbox.
struct Sealer: ~Copyable {
    private let configuration: MartletConfiguration
    private let identity: TelemetryResource
    private let capture: CaptureState
    private var lastReason: String?
    private let recorder: Recorder
    private let log: AgentLog
    private let shipper: Shipper
    private let keeper: JournalKeeper
    private var pending: Pending?
    private var lastSeal: UInt64?
    private var reportedLosses: [DropReason: UInt64] = [:]
    private var lastMeasure: UInt64?
    /// Room in the place of the outbox.
    private var room: BufferRoom?
    /// All places where batches of the service may wait, the preferred one first.
    let places: [URL]

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: CaptureState, recorder: Recorder,
        log: AgentLog, shipper: Shipper, keeper: JournalKeeper
    ) {
        self.configuration = configuration
        identity = resource
        self.capture = capture
        lastReason = capture.reason
        self.recorder = recorder
        self.log = log
        self.shipper = shipper
        self.keeper = keeper
        places = BufferDirectory.candidates(
            for: configuration, environment: ProcessInfo.processInfo.environment)
    }

    /// The first directory that can be written; `nil`, and a reason in `status`, when none can.
    mutating func makeOutbox() -> Outbox? {
        var problems: [String] = []
        let account = shipper.status.account
        for candidate in places {
            do {
                let outbox = try Outbox.create(instance: identity.instance, in: candidate, account: account)
                // Tells a disk that is full from one that has room, and who recorded what the journal has.
                do {
                    try outbox.keep(identity)
                } catch {
                    outbox.close()
                    throw error
                }
                use(candidate, insteadOf: problems)
                return outbox
            } catch {
                problems.append("\(candidate.path): \(Self.sentence(error))")
            }
        }
        fail(problems.joined(separator: "; "))
        return nil
    }

    /// Takes note of what the outbox leaves behind that can be used no more.
    func leave(_ outbox: inout Outbox) {
        _ = outbox.batches()
        note(outbox.account)
    }

    /// Goes on with one that was left: what became of requests since then is in the account.
    mutating func takeBack(_ outbox: inout Outbox) {
        outbox.account = shipper.status.account
        outbox.saving = .due
        use(outbox.service, insteadOf: [])
    }

    /// One batch of metrics and, where details were kept, one of traces. What cannot be stored is tried again at the next
    /// call, and until then nothing else: its requests are in the journal, and so are those that come.
    ///
    /// - Parameter isLast: there is no other batch to tell of a loss.
    mutating func seal(into outbox: inout Outbox, isAsked: Bool, isLast: Bool = false) {
        guard storePending(in: &outbox) else { return }
        let isNew =
            !recorder.isEmpty || capture.now(keeping: recorder).reason != lastReason || (isLast && hasUnreportedLoss)
        guard isNew || isHeartbeatDue(isAsked: isAsked), takeInterval() else { return }
        _ = storePending(in: &outbox)
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
        if keeper.closedSequence == nil { guard recorder.noteClosed({ keeper.close() }) else { return false } }
        guard let sequence = keeper.closedSequence, let lanes = awaitWritten() else { return false }
        ShippingStep.closed.reach()
        for lane in lanes { recorder.fold(lane) }
        let (interval, captured) = recorder.drain()
        let capture = capture.now(keeping: recorder)
        var resource = identity
        resource.captureMode = capture.mode.rawValue
        resource.captureReason = capture.reason
        lastReason = capture.reason
        pending = Pending(sequence: sequence, resource: resource, interval: interval, captured: captured)
        return true
    }

    private func awaitWritten() -> [JournalKeeper.ClosedLane]? {
        let deadline = Clock.monotonic() &+ MartletLimits.lastRecord.nanoseconds
        while true {
            if let lanes = keeper.closedLanes() { return lanes }
            guard Clock.monotonic() < deadline else { return nil }
            sched_yield()
        }
    }

    /// `false` where it cannot be stored now.
    private mutating func storePending(in outbox: inout Outbox) -> Bool {
        guard let pending else { return true }
        let interval = pending.interval
        let ledger = shipper.status.ledger(captured: pending.captured)
        let metrics = MetricsBatch(
            resource: pending.resource, start: interval.start, end: interval.end, series: interval.series,
            instanceStart: recorder.start, ledger: ledger)
        do {
            try store(metrics.otlp(), .metrics, pending.sequence, requests: metrics.requests, in: &outbox)
        } catch {
            fail(Self.sentence(error))
            return false
        }
        self.pending = nil
        reportedLosses = ledger.dropped
        ShippingStep.stored.reach()
        storeDetails(interval.details, of: pending, in: &outbox)
        keeper.release()
        noteJournal()
        ShippingStep.released.reach()
        lastSeal = Clock.monotonic()
        shipper.update { $0.bufferError = nil }
        log.again(.buffer, "Batches are stored again")
        return true
    }

    /// Details go first where something has to go: the batch of metrics stands without them.
    private mutating func storeDetails(
        _ details: [SpanRecord], of pending: Pending, in outbox: inout Outbox
    ) {
        guard !details.isEmpty else { return }
        do {
            let batch = DetailsBatch(resource: pending.resource, details: details)
            try store(batch.otlp(), .traces, pending.sequence, in: &outbox)
        } catch {
            recorder.countDroppedDetails(details.count)
        }
    }

    /// Counts what is in the buffer anew, now and then: other instances of the service change it too.
    mutating func measureBuffer() {
        guard let room, Clock.hasPassed(MartletLimits.bufferMeasure, since: lastMeasure) else { return }
        lastMeasure = Clock.monotonic()
        let bytes = room.size
        shipper.update { $0.bufferedBytes = bytes }
    }

    /// Segments are made in the outbox's directory from now on.
    func keepJournal(in outbox: borrowing Outbox) {
        keeper.move(to: outbox.directory)
        noteJournal()
    }

    /// Whether some of the journal is still where the outbox was before.
    var isJournalMoving: Bool { keeper.isMoving }

    /// The last use. What is no batch yet stays in the journal, for the service's next start.
    func close() {
        var empty: [SegmentMemory] = []
        _ = recorder.noteClosed {
            let end = keeper.finish()
            empty = end.empty
            return end.requests
        }
        // Not while a service's thread may wait for the account.
        for memory in empty { memory.remove() }
    }

    // MARK: -

    private func noteJournal() {
        let (bytes, problem) = (keeper.memoryBytes, keeper.problem)
        shipper.update {
            $0.journalBytes = bytes
            $0.journalError = problem
        }
        if let problem {
            log.once(.journal, "A killed process loses what it recorded since the last interval: \(problem)")
        } else {
            log.again(.journal, "What is recorded survives a killed process again")
        }
    }

    /// Whether the account has a loss that no batch's ledger has.
    var hasUnreportedLoss: Bool { shipper.status.account.dropped != reportedLosses }

    private func isHeartbeatDue(isAsked: Bool) -> Bool {
        !isAsked && Clock.hasPassed(MartletLimits.heartbeat, since: lastSeal)
    }

    private mutating func store(
        _ bytes: [UInt8], _ signal: Signal, _ sequence: UInt64, requests: UInt64 = 0, in outbox: inout Outbox
    ) throws {
        let isCompressed = configuration.compression == .gzip
        let body = isCompressed ? try Gzip.compress(bytes) : bytes
        let file = BatchFile(
            sequence: sequence, signal: signal, requests: requests, isCompressed: isCompressed, body: body)
        defer { note(outbox.account) }
        if makeRoom(for: body.count, in: &outbox) {
            try outbox.store(body, as: file)
            shipper.update { $0.bufferedBytes += body.count }
        } else if signal == .metrics {
            outbox.drop(requests, .bufferFull, sequence: sequence)
        } else {
            throw WholeFile.Failure(operation: "find room in the buffer", code: ENOSPC)
        }
    }

    private func note(_ account: OutboxAccount) {
        if account.dropped[.bufferFull] != shipper.status.account.dropped[.bufferFull] {
            log.once(.bufferFull, "The buffer is full (MARTLET_BUFFER_MAX); the oldest batches make room")
        }
        shipper.update { $0.account = account }
    }

    /// Looks at the files only when the count says that room is short.
    private mutating func makeRoom(for bytes: Int, in outbox: inout Outbox) -> Bool {
        // The journal's part is the buffer's too; where that is very small, no more than a quarter.
        let bytes = bytes + min(keeper.fileBytes, configuration.bufferMax / 4)
        guard var room, room.isShort(at: shipper.status.bufferedBytes + bytes) else { return true }
        let isThere = room.make(for: bytes, own: &outbox)
        let left = room.size
        shipper.update { $0.bufferedBytes = left }
        self.room = room
        return isThere
    }

    private mutating func use(_ directory: URL, insteadOf problems: [String]) {
        room = BufferRoom(service: directory, limit: configuration.bufferMax)
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
