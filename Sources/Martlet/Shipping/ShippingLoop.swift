import Foundation
import MartletTelemetry

/// What the shipping thread does, in its order: seal when the interval is over, upload what waits, answer who asked.
struct ShippingLoop: ~Copyable {
    private let interval: UInt64
    private let shipper: Shipper
    private var sealer: Sealer
    private var delivery: Delivery
    private var outbox: Outbox?

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, recorder: Recorder, log: AgentLog,
        shipper: Shipper
    ) {
        interval = configuration.interval.nanoseconds
        self.shipper = shipper
        sealer = Sealer(configuration, resource: resource, recorder: recorder, log: log, shipper: shipper)
        delivery = Delivery(configuration, log: log, shipper: shipper)
        outbox = nil
    }

    mutating func run() {
        var nextSeal = Clock.monotonic() &+ interval
        openOutbox()
        deliver(isAsked: false)
        while true {
            shipper.waitForRequest(until: min(nextSeal, delivery.nextAttempt))
            let flushes = shipper.takeFlushes()
            let isStopping = shipper.stopBy != nil
            let isAsked = !flushes.isEmpty || isStopping
            if isAsked || Clock.monotonic() >= nextSeal {
                seal(isAsked: isAsked)
                nextSeal = Clock.monotonic() &+ interval
            }
            deliver(isAsked: isAsked)
            for done in flushes { done() }
            if isStopping { break }
        }
        outbox.take()?.close()
        delivery.close()
    }

    /// Tried again at every seal, so that a disk that comes back is used.
    private mutating func openOutbox() {
        if outbox == nil { outbox = sealer.makeOutbox() }
    }

    private mutating func seal(isAsked: Bool) {
        openOutbox()
        guard let open = outbox.take() else { return }
        sealer.seal(into: open, isAsked: isAsked)
        outbox = consume open
    }

    private mutating func deliver(isAsked: Bool) {
        guard let open = outbox.take() else { return }
        sealer.measureBuffer()
        delivery.deliver(own: open, service: sealer.service, isAsked: isAsked)
        outbox = consume open
    }
}
