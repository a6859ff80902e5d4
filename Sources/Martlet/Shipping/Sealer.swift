import Foundation
import MartletTelemetry

/// Stores the batches of each interval in the outbox, or in memory if no directory can be used.
struct Sealer: ~Copyable {
    private let configuration: MartletConfiguration
    private let identity: TelemetryResource
    private let owner: OutboxOwner
    private let recorder: Recorder
    private let log: AgentLog
    private let board: StatusBoard
    private let keeper: JournalKeeper
    private var pending: PendingInterval
    private var lastSeal: UInt64?
    private var reportedLosses: [DropReason: UInt64] = [:]
    private var lastMeasure: UInt64?
    /// Keeps the outbox's directory within its limit; `nil` before the first outbox.
    private var room: BufferRoom?
    /// The directories in which batches of the service may wait, the preferred one first.
    let directories: [URL]
    /// Why a directory could not be used when it was last tried.
    private var problems: [URL: String] = [:]

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: EffectiveCapture,
        recorder: Recorder, log: AgentLog, board: StatusBoard, keeper: JournalKeeper, delays: DelayProbes
    ) {
        self.configuration = configuration
        identity = resource
        owner = OutboxOwner(resource, configuration)
        self.recorder = recorder
        self.log = log
        self.board = board
        self.keeper = keeper
        pending = PendingInterval(
            configuration, resource: resource, capture: capture, recorder: recorder, log: log, board: board,
            keeper: keeper, delays: delays)
        directories = BufferDirectory.candidates(
            for: configuration, environment: ProcessInfo.processInfo.environment)
    }

    /// Makes an outbox in the first directory that can be written; `nil` if none can.
    ///
    /// - Parameter failed: directories in which a batch has just failed to be stored.
    mutating func makeOutbox(except failed: Set<URL> = []) -> Outbox? {
        let account = board.status.account
        for candidate in directories where !failed.contains(candidate) {
            do {
                var outbox = try Outbox.create(instance: identity.instance, in: candidate, account: account)
                // This write detects a full disk, and stores which process recorded the journal's requests.
                do {
                    try outbox.keep(owner)
                } catch {
                    outbox.close()
                    throw error
                }
                use(candidate)
                return outbox
            } catch {
                problems[candidate] = Self.sentence(error)
            }
        }
        return nil
    }

    /// Updates the account of an outbox and the status, when another outbox replaces it, or when it replaces one in its directory.
    func updateAccount(of outbox: inout Outbox) {
        outbox.adopt(account: board.status.account)
        _ = outbox.batches()
        note(outbox.account)
    }

    /// Takes an outbox back into use. Adds the requests that were settled meanwhile to its account.
    mutating func reuse(_ outbox: inout Outbox) {
        outbox.adopt(account: board.status.account)
        use(outbox.serviceDirectory)
    }

    /// Returns the batches of the interval that is over. `nil` if the interval has nothing to report, or cannot be
    /// taken now: its requests stay in the journal until the next call.
    ///
    /// - Parameters:
    ///   - isCallerWaiting: whether a caller waits. If so, the length of the capture gap is reported, and a heartbeat
    ///     is not due.
    ///   - isLast: whether this is the last batch, so that no other can report a loss.
    mutating func seal(isCallerWaiting: Bool, isLast: Bool = false) -> SealedInterval? {
        if !pending.isTaken {
            let isNew = pending.isNew(isCallerWaiting) || (isLast && hasUnreportedLoss) || owesEnd
            guard isNew || isHeartbeatDue(isCallerWaiting: isCallerWaiting), pending.take() else { return nil }
        }
        return pending.encode()
    }

    /// Reports with the next interval that the instance has ended as it should.
    mutating func beginEnding() { pending.isEnding = true }

    /// Whether the instance's end still has to be reported. An instance that the collector does not know from any batch
    /// has none.
    var owesEnd: Bool { pending.isEnding && !pending.hasReportedEnd && lastSeal != nil }

    /// Whether an interval is over whose batches could not be made yet.
    var hasPendingInterval: Bool { pending.isTaken }

    /// Stores an interval in the outbox. Throws if the batch of metrics cannot be stored. In that case the interval
    /// stays pending.
    ///
    /// - Parameter memory: the batches that could not be stored before. They are stored first.
    mutating func store(
        _ interval: SealedInterval, in outbox: inout Outbox, after memory: inout MemoryOutbox
    ) throws(WholeFile.Failure) {
        outbox.adopt(account: board.status.account)
        defer { note(outbox.account) }
        try memory.move(to: &outbox)
        let (file, body) = (interval.metrics.file, interval.metrics.body)
        if makeRoom(for: body.count, in: &outbox) {
            try outbox.store(body, as: file)
            let size = outbox.size(of: file)
            board.update { $0.bufferedBytes += size }
        } else {
            outbox.drop(file.requests, .bufferFull, sequence: file.sequence)
        }
        ShippingMilestone.stored.reach()
        storeDetails(of: interval, in: &outbox)
        keeper.recycle()
        finish(interval)
        board.update { $0.bufferError = nil }
        log.noteEnd(of: .buffer, "Batches are stored again")
    }

    /// Stores the details. If there is no room, the details are dropped first, because the batch of metrics is complete
    /// without them.
    private mutating func storeDetails(of interval: SealedInterval, in outbox: inout Outbox) {
        guard interval.detailCount > 0 else { return }
        guard let details = interval.details, makeRoom(for: details.body.count, in: &outbox),
            (try? outbox.store(details.body, as: details.file)) != nil
        else { return recorder.countDroppedDetails(interval.detailCount) }
        let size = outbox.size(of: details.file)
        board.update { $0.bufferedBytes += size }
    }

    /// Stores an interval in memory, because no directory can be used.
    mutating func store(_ interval: SealedInterval, in memory: inout MemoryOutbox) {
        memory.adopt(account: board.status.account)
        let before = memory.bytes
        let isStored = memory.store(interval.metrics.body, as: interval.metrics.file)
        if !isStored { memory.drop(interval.metrics.file) }
        ShippingMilestone.stored.reach()
        if interval.detailCount > 0, interval.details.map({ memory.store($0.body, as: $0.file) }) != true {
            recorder.countDroppedDetails(interval.detailCount)
        }
        if isStored, keeper.isClosedOnDisk { memory.hold(interval.sequence) } else { keeper.recycle() }
        finish(interval)
        let bytes = memory.bytes
        board.update {
            $0.bufferedBytes = max(0, $0.bufferedBytes + bytes - before)
            $0.memoryBatchBytes = bytes
        }
        note(memory.account)
    }

    /// Stores the batches that wait in memory. Reports that batches can be stored again, because the write succeeded.
    mutating func move(_ memory: inout MemoryOutbox, to outbox: inout Outbox) {
        guard board.status.bufferError != nil || !memory.isEmpty else { return }
        do {
            try outbox.keep(owner)
            try memory.move(to: &outbox)
            board.update { $0.bufferError = nil }
            noteJournal()
        } catch {
            problems[outbox.serviceDirectory] = Self.sentence(error)
        }
    }

    private mutating func finish(_ interval: SealedInterval) {
        pending.end()
        reportedLosses = interval.dropped
        noteJournal()
        ShippingMilestone.released.reach()
        lastSeal = Clock.monotonic()
    }

    /// Notes that a batch could not be stored in a directory.
    mutating func note(_ failure: WholeFile.Failure, in directory: URL) { problems[directory] = failure.description }

    /// Reports that no directory can be used. If none could be used since the start, the journal is in memory as well.
    func fallBackToMemory() {
        keeper.beginInMemory()
        let problem = directories.compactMap { directory in problems[directory].map { "\(directory.path): \($0)" } }
            .joined(separator: "; ")
        board.update { $0.bufferError = problem }
        let fate = keeper.problem == nil ? "stay in the journal" : "are lost"
        log.warn(
            of: .buffer,
            """
            Batches cannot be stored and are sent from memory; \
            if the process is killed, undelivered requests \(fate): \(problem)
            """)
        noteJournal()
    }

    /// Measures the buffer now and then, because other instances of the service change it too.
    mutating func measureBuffer() {
        guard Clock.hasPassed(MartletLimits.bufferMeasure, since: lastMeasure), let bytes = room?.measure() else {
            return
        }
        lastMeasure = Clock.monotonic()
        board.update { $0.bufferedBytes = bytes + $0.memoryBatchBytes }
    }

    /// Creates new segments in the outbox's directory.
    func keepJournal(in outbox: borrowing Outbox) {
        keeper.move(to: outbox.directory)
        noteJournal()
    }

    /// Whether the journal has a segment outside the outbox's directory.
    var hasStraySegments: Bool { keeper.hasStraySegments }

    /// Closes the journal for good. Requests that are not in a batch yet stay in it, for the service's next start.
    ///
    /// - Parameter lost: requests in batches that are only in memory.
    func close(losing lost: UInt64) {
        if lost > 0 { log.warning("\(lost) requests are lost: they could neither be delivered nor stored") }
        var empty: [SegmentMemory] = []
        _ = recorder.closeSegments {
            let end = keeper.closeForGood()
            empty = end.empty
            return end.requests
        }
        // The files are removed outside the lock, because a service's thread may wait for the lock.
        for memory in empty { memory.remove() }
    }

    // MARK: -

    private func noteJournal() {
        let (bytes, problem) = (keeper.memoryBytes, keeper.problem)
        board.update {
            $0.journalBytes = bytes
            $0.journalError = problem
        }
        // The warning that batches cannot be stored has already said this.
        guard board.status.bufferError == nil else { return }
        if let problem {
            log.warn(of: .journal, "The requests of the last interval are lost if the process is killed: \(problem)")
        } else {
            log.noteEnd(of: .journal, "Recorded requests survive again if the process is killed")
        }
    }

    /// Whether the account has a loss that no batch has reported.
    var hasUnreportedLoss: Bool { board.status.account.dropped != reportedLosses }

    private func isHeartbeatDue(isCallerWaiting: Bool) -> Bool {
        !isCallerWaiting && Clock.hasPassed(MartletLimits.heartbeat, since: lastSeal)
    }

    private func note(_ account: OutboxAccount) {
        if account.dropped[.bufferFull] != board.status.account.dropped[.bufferFull] { warnOfFullBuffer() }
        board.update { $0.account = account }
    }

    private func warnOfFullBuffer() {
        log.warn(of: .bufferFull, "The buffer is full (MARTLET_BUFFER_MAX); the oldest batches are dropped")
    }

    /// Makes room for `bytes` more. Looks at the files only if the counted size shows that room is short.
    ///
    /// - Returns: whether the bytes fit.
    private mutating func makeRoom(for bytes: Int, in outbox: inout Outbox) -> Bool {
        // The journal's files are part of the buffer, but take at most a quarter of a very small one.
        let bytes = bytes + min(keeper.fileBytes, configuration.bufferMax / 4)
        guard var room, room.isShort(at: board.status.bufferedBytes + bytes) else { return true }
        let isThere = room.make(for: bytes, own: &outbox)
        let left = room.measure()
        board.update { $0.bufferedBytes = left }
        if room.hasDropped { warnOfFullBuffer() }
        self.room = room
        return isThere
    }

    private mutating func use(_ directory: URL) {
        room = BufferRoom(serviceDirectory: directory, limit: configuration.bufferMax)
        problems[directory] = nil
        board.update {
            $0.bufferDirectory = directory
            $0.bufferError = nil
        }
        let others = directories.compactMap { directory in problems[directory].map { "\(directory.path): \($0)" } }
        guard !others.isEmpty else { return }
        log.warn(
            of: .directory,
            "Batches are kept in \(directory.path), because other directories cannot be used: \(others.joined(separator: "; "))"
        )
    }

    /// Returns the cause of a failure as a sentence.
    static func sentence(_ error: any Error) -> String {
        (error as? WholeFile.Failure)?.description ?? (error as NSError).localizedDescription
    }
}
