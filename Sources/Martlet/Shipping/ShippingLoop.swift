import Foundation
import MartletTelemetry

/// What the shipping thread does, in its order: seal when the interval is over, upload what waits, answer who asked.
struct ShippingLoop: ~Copyable {
    private let interval: UInt64
    private let checkInterval: UInt64
    private var nextSeal: UInt64
    private var nextCheck: UInt64
    private let shipper: Shipper
    private let recorder: Recorder
    private let keeper: JournalKeeper
    private let capture: CaptureState
    private let log: AgentLog
    private var sealer: Sealer
    private var budget: BudgetWatch
    private var delivery: Delivery
    private var outbox: Outbox?
    /// The one before, whose lock is held as long as there is something of the journal in it.
    private var former: Outbox?

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: CaptureState, recorder: Recorder,
        log: AgentLog, shipper: Shipper
    ) {
        interval = configuration.interval.nanoseconds
        let checkInterval = min(configuration.interval, configuration.hung, MartletLimits.budgetWindow)
        self.checkInterval = max(checkInterval, MartletLimits.shortestInterval).nanoseconds
        nextCheck = Clock.monotonic() &+ self.checkInterval
        nextSeal = Clock.monotonic() &+ interval
        self.shipper = shipper
        self.recorder = recorder
        self.capture = capture
        self.log = log
        budget = BudgetWatch(configuration, recorder: recorder, shipper: shipper, log: log)
        let keeper = JournalKeeper(recorder.journal)
        self.keeper = keeper
        sealer = Sealer(
            configuration, resource: resource, capture: capture, recorder: recorder, log: log, shipper: shipper,
            keeper: keeper)
        delivery = Delivery(configuration, log: log, shipper: shipper) { _ = keeper.makeRoom() }
        outbox = nil
        former = nil
    }

    /// First of all: the journal is open with it.
    mutating func open() { openOutbox() }

    mutating func run() {
        // What was recorded before there was a journal is in memory alone.
        if recorder.hasUnjournaled { seal(isAsked: true) }
        deliver(isAsked: false)
        while true {
            shipper.waitForRequest(until: min(nextSeal, nextAttempt, nextCheck))
            let flushes = shipper.takeFlushes()
            let isStopping = shipper.stopBy != nil
            let isAsked = !flushes.isEmpty || isStopping
            if keeper.makeRoom() { nextSeal = 0 }
            if Clock.monotonic() >= nextCheck { check() }
            guard isAsked || Clock.monotonic() >= min(nextSeal, nextAttempt) else { continue }
            if isAsked || Clock.monotonic() >= nextSeal { seal(isAsked: isAsked) }
            deliver(isAsked: isAsked)
            if isStopping { reportLosses() }
            if isStopping { close() }
            shipper.update { $0.threadCPU = Clock.threadCPU() }
            for done in flushes { done() }
            if isStopping { return }
        }
    }

    /// By the monotonic clock; never while there is no place to deliver from.
    private var nextAttempt: UInt64 { outbox == nil ? .max : delivery.nextAttempt }

    /// What does not wait for the end of an interval, which may be long.
    private mutating func check() {
        nextCheck = Clock.monotonic() &+ checkInterval
        Capture.countHung(into: recorder)
        budget.check()
        checkHooks()
    }

    /// What another library did to them is told, and left as it is.
    private func checkHooks() {
        if let loss = capture.loss {
            log.once(.hooks, "Capture: \(loss)")
        } else {
            log.again(.hooks, "Capture: the hooks are in their places again")
        }
    }

    /// What was found lost on the last way through the buffer goes with no batch any more, but for this one.
    private mutating func reportLosses() {
        guard sealer.hasUnreportedLoss, var open = outbox.take() else { return }
        sealer.seal(into: &open, isAsked: true, isLast: true)
        outbox = consume open
        deliver(isAsked: true)
    }

    /// Ahead of the answer to who asked for it: the process may end with that.
    private mutating func close() {
        sealer.close()
        outbox.take()?.close()
    }

    /// Tried again at every seal, so that a disk that comes back is used, a directory that was removed is made anew, and
    /// one that cannot be written any more is left for the next place.
    private mutating func openOutbox() {
        if let open = outbox.take() {
            if open.isInPlace { outbox = consume open } else { leave(open) }
        }
        if outbox == nil { takeBackFormer() }
        guard outbox == nil, let new = sealer.makeOutbox() else { return }
        sealer.keepJournal(in: new)
        outbox = consume new
    }

    private mutating func leave(_ outbox: consuming Outbox) {
        var outbox = outbox
        sealer.leave(&outbox)
        if former == nil, outbox.isThere { former = consume outbox }
    }

    /// This process has its lock, so nobody could make it anew.
    private mutating func takeBackFormer() {
        guard var place = former.take() else { return }
        guard place.isInPlace else { return former = consume place }
        sealer.takeBack(&place)
        sealer.keepJournal(in: place)
        outbox = consume place
    }

    private mutating func seal(isAsked: Bool) {
        nextSeal = Clock.monotonic() &+ interval
        check()
        openOutbox()
        guard var open = outbox.take() else { return }
        sealer.seal(into: &open, isAsked: isAsked)
        outbox = consume open
        if !sealer.isJournalMoving { former = nil }
    }

    /// A long way through the buffer is interrupted where the next interval ends.
    private mutating func deliver(isAsked: Bool) {
        while !deliverUntilNextSeal(isAsked: isAsked) { seal(isAsked: false) }
    }

    private mutating func deliverUntilNextSeal(isAsked: Bool) -> Bool {
        guard var open = outbox.take() else { return true }
        sealer.measureBuffer()
        let isDone = delivery.deliver(own: &open, places: sealer.places, isAsked: isAsked, pause: nextSeal)
        outbox = consume open
        return isDone
    }
}
