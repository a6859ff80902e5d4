import CMartletHooks
import Dispatch
import Foundation
import MartletTelemetry

/// The work of the agent's thread, in this order: it seals an interval that is over, uploads the waiting batches, and
/// answers the callers of `flush` and `shutdown`.
struct AgentLoop: ~Copyable {
    private let interval: UInt64
    private let checkInterval: UInt64
    private var nextSeal: UInt64
    private var nextCheck: UInt64
    private var nextProbe: UInt64
    private let delays = DelayProbes()
    private let requests: FlushRequests
    private let board: StatusBoard
    private let recorder: Recorder
    private let keeper: JournalKeeper
    private let capture: EffectiveCapture
    private let log: AgentLog
    private var clock = ClockWatch()
    private var sealer: Sealer
    private var budget: BudgetWatch
    private let rules: RulesWatch
    private var delivery: Delivery
    private var outbox: Outbox?
    /// The previous outbox, no longer used. Its lock is held while batches or journal segments remain in it.
    private var retired: Outbox?
    /// The batches that could not be stored in any directory.
    private var memory: MemoryOutbox
    private let watchesCrashes: Bool
    /// The record of this process for the next one; `nil` without a directory that can hold it.
    private var record: ProcessRecord?

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: EffectiveCapture,
        recorder: Recorder, rules: RulesWatch, log: AgentLog, requests: FlushRequests, board: StatusBoard
    ) {
        interval = configuration.interval.nanoseconds
        let checkInterval = min(configuration.interval, configuration.hung, MartletLimits.budgetPeriod)
        self.checkInterval = max(checkInterval, MartletLimits.shortestInterval).nanoseconds
        nextCheck = Clock.monotonic() &+ self.checkInterval
        nextSeal = Clock.monotonic() &+ interval
        nextProbe = Clock.monotonic()
        self.requests = requests
        self.board = board
        self.recorder = recorder
        self.capture = capture
        self.log = log
        budget = BudgetWatch(configuration, recorder: recorder, board: board, log: log)
        self.rules = rules
        let keeper = JournalKeeper(recorder.journal)
        self.keeper = keeper
        sealer = Sealer(
            configuration, resource: resource, capture: capture, recorder: recorder, log: log, board: board,
            keeper: keeper, delays: delays)
        delivery = Delivery(
            configuration, instance: resource.instance, log: log, requests: requests, board: board
        ) {
            _ = keeper.prepareNextSegment()
            rules.reload()
        }
        outbox = nil
        retired = nil
        watchesCrashes = configuration.watchCrashes
        let share = Int(Double(configuration.maxMemory) * MartletLimits.memoryOutbox)
        memory = MemoryOutbox(
            instance: resource.instance, limit: min(share, configuration.bufferMax), keeper: keeper)
    }

    /// - Returns: whether everything recorded was delivered by the end.
    mutating func run() -> Bool {
        // Requests recorded before the journal was open are only in memory.
        if recorder.hasRequestsInMemory { seal(isCallerWaiting: true) }
        deliver(isCallerWaiting: false)
        while true {
            requests.waitForRequest(until: min(nextSeal, delivery.nextAttempt, nextCheck, nextProbe))
            let flushes = requests.takeFlushes()
            let isStopping = requests.stopBy != nil
            let isCallerWaiting = !flushes.isEmpty || isStopping
            let dropped = board.status.account.dropped
            if keeper.prepareNextSegment() { nextSeal = 0 }
            if isStopping { beginEnding() }
            probeDelays()
            if isCallerWaiting || budget.hasSwitched || Clock.monotonic() >= min(nextSeal, nextCheck) { check() }
            guard isCallerWaiting || Clock.monotonic() >= min(nextSeal, delivery.nextAttempt) else { continue }
            if isCallerWaiting || Clock.monotonic() >= nextSeal { seal(isCallerWaiting: isCallerWaiting) }
            deliver(isCallerWaiting: isCallerWaiting)
            if isStopping { reportLosses() }
            let isDelivered = isCallerWaiting && !isAnythingWaiting() && board.status.account.dropped == dropped
            if isStopping { close() }
            board.update { $0.threadCPU = AgentCost.thread }
            for done in flushes { done(isDelivered) }
            if isStopping { return isDelivered }
        }
    }

    /// Whether anything of this process waits to be sealed or delivered, as far as it was recorded before the last seal.
    private mutating func isAnythingWaiting() -> Bool {
        var isWaiting = sealer.hasPendingInterval || !memory.isEmpty
        if var open = outbox.take() {
            isWaiting = open.batches()?.isEmpty != true || isWaiting
            outbox = consume open
        }
        if var old = retired.take() {
            isWaiting = old.batches()?.isEmpty != true || isWaiting
            retired = consume old
        }
        return isWaiting
    }

    /// Does the work that cannot wait for the end of a long interval. Call it only once before a seal, because each
    /// call judges the budget.
    private mutating func check() {
        nextCheck = Clock.monotonic() &+ checkInterval
        URLSessionCapture.countHung(into: recorder)
        if budget.check() { nextSeal = 0 }
        if rules.reloadAndReport() { nextSeal = 0 }
        keeper.noteCaptureGap(recorder.captureGap.nanoseconds())
        record?.noteMemoryLimit()
        checkHooks()
        checkClock()
    }

    private mutating func probeDelays() {
        guard Clock.monotonic() >= nextProbe else { return }
        nextProbe = Clock.monotonic() &+ MartletLimits.probeInterval.nanoseconds
        delays.send()
        record?.beat()
    }

    /// Notes that the process was asked to stop, and lets its last batch report that it ended as it should.
    private mutating func beginEnding() {
        record?.noteStop()
        sealer.beginEnding()
    }

    /// Warns if another library has removed a hook, or if requests do not reach one. Does not reinstall it.
    private func checkHooks() {
        if let missing = capture.missingHooks() {
            log.warn(of: .hooks, "Capture: \(missing)")
        } else {
            log.noteEnd(of: .hooks, "Capture: all hooks are in place, and requests reach them")
        }
    }

    /// Says that the wall clock was set forward. The agent cannot know whether the machine was restored from a snapshot.
    private mutating func checkClock() {
        guard let step = clock.step() else { return }
        log.notice(
            "the clock was set forward by \(Int(step.seconds)) s. If this machine was restored from a snapshot, or this "
                + "process from a checkpoint, start the service again: a copy of this process has the same identity, and "
                + "a collector takes its batches for repeats")
    }

    /// Seals and delivers one more interval if the last delivery found a loss, which no other batch would report.
    private mutating func reportLosses() {
        guard sealer.hasUnreportedLoss else { return }
        sealAndStore(isCallerWaiting: true, isLast: true)
        deliver(isCallerWaiting: true)
    }

    /// Closes the journal and the outbox. Called before the callers are answered, because the process may exit as soon
    /// as a caller has its answer.
    private mutating func close() {
        sealer.close(losing: memory.losable)
        // If no batch could report the end, the next process does.
        if !sealer.owesEnd { record?.remove() }
        outbox.take()?.close()
    }

    private mutating func seal(isCallerWaiting: Bool) {
        nextSeal = Clock.monotonic() &+ interval
        openOutbox()
        sealAndStore(isCallerWaiting: isCallerWaiting)
        closeRetired()
    }

    // MARK: Where batches wait

    /// Opens the outbox and the journal in it. Replaces an outbox whose directory was lost. Call it before ``run()``.
    /// It is called again at every seal, so that a recovered disk is used and a removed directory is recreated.
    mutating func openOutbox() {
        if let open = outbox.take() {
            if open.isUsable { outbox = consume open } else { retire(open) }
        }
        if outbox == nil { reuseRetired() }
        guard outbox == nil else { return }
        if let new = sealer.makeOutbox() { use(new) } else { sealer.fallBackToMemory() }
    }

    private mutating func use(_ new: consuming Outbox) {
        var new = new
        if let old = retired.take() {
            if old.serviceDirectory == new.serviceDirectory {
                // The old outbox has lost its lock: the new one has created another lock file.
                new.waiting = old.waiting
                sealer.updateAccount(of: &new)
            } else {
                retired = consume old
            }
        }
        // The record comes first: once the journal is open, the end of the process is known too.
        keepRecord(in: new.directory, of: new.serviceDirectory)
        sealer.keepJournal(in: new)
        outbox = consume new
    }

    private mutating func keepRecord(in directory: URL, of serviceDirectory: URL) {
        guard watchesCrashes, record?.isIn(directory) != true else { return }
        record?.remove()
        let isCrowded = BufferDirectory.instances(in: serviceDirectory).count > MartletLimits.recordedInstances
        record = isCrowded ? nil : ProcessRecord(in: directory)
    }

    private mutating func retire(_ outbox: consuming Outbox) {
        var outbox = outbox
        sealer.updateAccount(of: &outbox)
        if retired == nil, outbox.isThere || outbox.waiting > 0 { retired = consume outbox }
    }

    /// Takes the retired outbox back into use if its directory still exists. No other process can have recreated the
    /// directory, because this process holds its lock.
    private mutating func reuseRetired() {
        guard var old = retired.take() else { return }
        guard old.isUsable else { return retired = consume old }
        sealer.reuse(&old)
        use(old)
    }

    /// Returns the retired outbox or a new one, in a directory that is not in `failed`; `nil` if none can be used.
    private mutating func otherOutbox(except failed: Set<URL>) -> Outbox? {
        if var old = retired.take() {
            if !failed.contains(old.serviceDirectory), old.isUsable {
                sealer.reuse(&old)
                return old
            }
            retired = consume old
        }
        return sealer.makeOutbox(except: failed)
    }

    /// Closes the retired outbox once nothing of this process waits in it, so that another process can take it over.
    private mutating func closeRetired() {
        guard outbox != nil, !sealer.hasStraySegments, var old = retired.take() else { return }
        sealer.updateAccount(of: &old)
        if old.waiting > 0 { retired = consume old } else { old.close() }
    }

    private mutating func sealAndStore(isCallerWaiting: Bool, isLast: Bool = false) {
        // The batch's interval is still in the journal, which has no room for another one.
        if memory.held != nil { moveToDisk() }
        guard memory.held == nil else { return }
        if let interval = sealer.seal(isCallerWaiting: isCallerWaiting, isLast: isLast) {
            store(interval)
        } else {
            moveToDisk()
        }
    }

    /// Stores as many of the batches in memory as the outbox accepts.
    private mutating func moveToDisk() {
        guard var open = outbox.take() else { return }
        sealer.move(&memory, to: &open)
        outbox = consume open
    }

    /// Stores an interval in the outbox. If that fails, tries the other directories, and then memory.
    private mutating func store(_ interval: SealedInterval) {
        var failed: Set<URL> = []
        if interval.isLast { record?.noteReport(in: interval.sequence) }
        while var open = outbox.take() {
            do throws(WholeFile.Failure) {
                try sealer.store(interval, in: &open, after: &memory)
                return outbox = consume open
            } catch {
                failed.insert(open.serviceDirectory)
                sealer.note(error, in: open.serviceDirectory)
            }
            guard let next = otherOutbox(except: failed) else {
                outbox = consume open
                break
            }
            retire(open)
            use(next)
        }
        sealer.fallBackToMemory()
        sealer.store(interval, in: &memory)
    }

    // MARK: Delivery

    private mutating func deliver(isCallerWaiting: Bool) {
        let held = memory.held
        deliverAll(isCallerWaiting: isCallerWaiting)
        // The flush also covers the requests that came after the held interval.
        guard isCallerWaiting, held != nil, memory.held == nil else { return }
        sealAndStore(isCallerWaiting: true)
        deliverAll(isCallerWaiting: true)
    }

    /// Delivers the batches that wait. A long delivery is interrupted when the next check is due, and when the next interval
    /// ends, to seal it.
    private mutating func deliverAll(isCallerWaiting: Bool) {
        while !deliverUntilNextCheck(isCallerWaiting: isCallerWaiting) {
            check()
            if Clock.monotonic() >= nextSeal { seal(isCallerWaiting: false) }
        }
        delivery.end()
        let bytes = memory.bytes
        board.update { $0.memoryBatchBytes = bytes }
    }

    private mutating func deliverUntilNextCheck(isCallerWaiting: Bool) -> Bool {
        sealer.measureBuffer()
        guard delivery.begin(isCallerWaiting: isCallerWaiting, pause: min(nextSeal, nextCheck)) else { return true }
        // A caller waits for the requests of this process.
        if isCallerWaiting { deliverOwn() }
        for directory in sealer.directories { delivery.deliverAbandoned(in: directory, except: memory.instance) }
        if !isCallerWaiting { deliverOwn() }
        delivery.deliverElsewhere()
        return !delivery.isPaused
    }

    private mutating func deliverOwn() {
        if var old = retired.take() {
            delivery.deliver(own: &old)
            if !memory.isEmpty { old.removeSums() }
            retired = consume old
        }
        if var open = outbox.take() {
            delivery.deliver(own: &open)
            if !memory.isEmpty { open.removeSums() }
            outbox = consume open
        }
        delivery.deliver(own: &memory)
    }
}

/// The agent's one thread, seen from outside. It seals and uploads the recorded requests every interval, and at once
/// when it is asked to flush or to stop. It keeps running when the service's task pool is blocked.
final class AgentThread: Sendable {
    let requests: FlushRequests
    private let board: StatusBoard
    private let opening = DispatchGroup()

    init(requests: FlushRequests, board: StatusBoard) {
        self.requests = requests
        self.board = board
    }

    func start(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: EffectiveCapture,
        recorder: Recorder,
        log: AgentLog
    ) {
        opening.enter()
        board.update { $0.journalError = Self.isOpening }
        let error = Self.makeThread { [self] in
            // `Thread.name` does not work here: on Linux it reads the thread from a field that the creator may not have
            // set yet.
            martlet_name_thread("martlet")
            blockSignals()
            AgentCost.beginThread()
            martlet_begin_work()
            defer { martlet_end_work() }
            // The rules file is read first, because the first request may follow the start immediately.
            let rules = RulesWatch(configuration, capture: capture, active: recorder.rules, log: log)
            rules.start()
            var loop = AgentLoop(
                configuration, resource: resource, capture: capture, recorder: recorder, rules: rules, log: log,
                requests: requests, board: board)
            loop.openOutbox()
            opening.leave()
            requests.finish(loop.run())
        }
        if error != 0 { giveUp(at: error, log) }
    }

    /// Runs `body` on a new thread. Foundation's `Thread` does not report a failure to create the thread.
    ///
    /// - Returns: 0, or the system's error.
    private static func makeThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let work = Unmanaged.passRetained(ThreadWork(body))
        let error = martlet_start_thread(
            { context in
                guard let context else { return }
                Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().body()
            }, work.toOpaque())
        if error != 0 { work.release() }
        return error
    }

    /// Ends capture and answers all callers, because without its thread the agent can deliver nothing.
    private func giveUp(at error: Int32, _ log: AgentLog) {
        let reason =
            "the agent's thread cannot be made (\(String(cString: strerror(error)))); see pids.max and `ulimit -u`"
        CaptureSwitch.fail(because: reason)
        board.update { $0.journalError = reason }
        log.warning("Capture is off: \(reason)")
        requests.finish(false)
        opening.leave()
    }

    /// The state of the journal until it is open.
    private static let isOpening = "the journal is not open yet"

    /// Waits until the journal is open, at most for ``MartletLimits/openingWait``. If the process is killed before
    /// that, the requests recorded until then are lost.
    func awaitOpening() { _ = opening.wait(timeout: .now() + MartletLimits.openingWait.seconds) }

    var status: ShippingStatus { board.status }

    /// The signals that services handle. This thread, and the threads that it makes, block them, so that a service's
    /// handler runs on the service's own threads. No other signal is blocked: a blocked fault would end the process
    /// without a message, and a profiler signals every thread (`SIGPROF`) and waits for all of them.
    private static let signalsOfServices = [
        SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD, SIGALRM, SIGWINCH, SIGPIPE,
    ]

    private func blockSignals() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in Self.signalsOfServices { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// The work of a new thread. An object, so that its address can be passed through C.
private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}
