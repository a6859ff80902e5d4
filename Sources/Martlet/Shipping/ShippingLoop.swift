import Foundation
import MartletTelemetry

/// What the shipping thread does, in its order: seal when the interval is over, upload what waits, answer who asked.
struct ShippingLoop: ~Copyable {
    private let interval: UInt64
    private var nextSeal: UInt64
    private let shipper: Shipper
    private let recorder: Recorder
    private var sealer: Sealer
    private var budget: BudgetWatch
    private var delivery: Delivery
    private var outbox: Outbox?

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: CaptureState, recorder: Recorder,
        log: AgentLog,
        shipper: Shipper
    ) {
        interval = configuration.interval.nanoseconds
        nextSeal = Clock.monotonic() &+ interval
        self.shipper = shipper
        self.recorder = recorder
        budget = BudgetWatch(configuration, recorder: recorder, log: log)
        sealer = Sealer(
            configuration, resource: resource, capture: capture, recorder: recorder, log: log, shipper: shipper)
        delivery = Delivery(configuration, log: log, shipper: shipper)
        outbox = nil
    }

    mutating func run() {
        openOutbox()
        deliver(isAsked: false)
        while true {
            shipper.waitForRequest(until: min(nextSeal, delivery.nextAttempt))
            let flushes = shipper.takeFlushes()
            let isStopping = shipper.stopBy != nil
            let isAsked = !flushes.isEmpty || isStopping
            if sealer.makeRoomInJournal() { nextSeal = 0 }
            guard isAsked || Clock.monotonic() >= min(nextSeal, delivery.nextAttempt) else { continue }
            if isAsked || Clock.monotonic() >= nextSeal { seal(isAsked: isAsked) }
            deliver(isAsked: isAsked)
            if isStopping { close() }
            shipper.update { $0.threadCPU = Clock.threadCPU() }
            for done in flushes { done() }
            if isStopping { return }
        }
    }

    /// Ahead of the answer to who asked for it: the process may end with that.
    private mutating func close() {
        sealer.close()
        outbox.take()?.close()
        delivery.close()
    }

    /// Tried again at every seal, so that a disk that comes back is used, and a directory that was removed is made anew.
    private mutating func openOutbox() {
        if let open = outbox.take() {
            if open.isInPlace { outbox = consume open } else { open.close() }
        }
        guard outbox == nil, let new = sealer.makeOutbox() else { return }
        sealer.keepJournal(in: new)
        outbox = consume new
    }

    private mutating func seal(isAsked: Bool) {
        nextSeal = Clock.monotonic() &+ interval
        Capture.countHung(into: recorder)
        budget.check()
        openOutbox()
        guard let open = outbox.take() else { return }
        sealer.seal(into: open, isAsked: isAsked)
        outbox = consume open
    }

    /// A long way through the buffer is interrupted where the next interval ends.
    private mutating func deliver(isAsked: Bool) {
        while !deliverUntilNextSeal(isAsked: isAsked) { seal(isAsked: false) }
    }

    private mutating func deliverUntilNextSeal(isAsked: Bool) -> Bool {
        guard let open = outbox.take() else { return true }
        sealer.measureBuffer()
        let isDone = delivery.deliver(own: open, service: sealer.service, isAsked: isAsked, pause: nextSeal)
        outbox = consume open
        return isDone
    }
}
