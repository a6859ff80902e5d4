import Foundation
import MartletOTLP
import MartletTelemetry

/// Uploads batches, the oldest first: those of dead instances, then this one's own. One at a time, each until the
/// collector acknowledged it; a failure that may pass ends the round, for its signal or for both.
struct Delivery {
    private let uploader: Uploader
    private let shipper: Shipper
    private let log: AgentLog
    private let timeout: UInt64
    private let recovery: JournalRecovery
    private let whileWaiting: () -> Void
    private var circuits: [Signal: UploadCircuit] = [:]
    /// Not sent in this round.
    private var held: Set<Signal> = []
    /// Held, and there is something to send.
    private var pending: Set<Signal> = []
    private var pause: UInt64 = .max
    /// The round was interrupted, and there may be more.
    private(set) var isPaused = false

    /// - Parameter whileWaiting: called now and then during an upload, which may take its time.
    init(
        _ configuration: MartletConfiguration, log: AgentLog, shipper: Shipper, whileWaiting: @escaping () -> Void
    ) {
        uploader = Uploader(configuration, log: log)
        let transport = uploader.transport
        shipper.update { $0.transport = transport }
        timeout = configuration.exportTimeout.nanoseconds
        recovery = JournalRecovery(configuration)
        self.whileWaiting = whileWaiting
        self.shipper = shipper
        self.log = log
        if transport == .urlSession { wait(until: Clock.monotonic() &+ configuration.interval.nanoseconds) }
    }

    /// Batches of earlier processes wait for the first interval's end where uploads need a session: the first session of a
    /// process settles which protocols `URLSession.shared` has, and that is the service's to say.
    private mutating func wait(until time: UInt64) {
        for signal in Signal.allCases { circuits[signal] = UploadCircuit(notBefore: time) }
        pending = Set(Signal.allCases)
    }

    /// By the monotonic clock: when the next attempt is due; never while nothing waits.
    var nextAttempt: UInt64 { pending.compactMap { circuits[$0]?.notBefore }.min() ?? .max }

    /// Begins a round.
    ///
    /// - Parameters:
    ///   - isAsked: somebody waits for it, so that the agent's own wait is cut short; the collector's is not.
    ///   - pause: by the monotonic clock: no upload begins later, so that sealing does not wait for a full buffer.
    /// - Returns: `false` where nothing may be sent now.
    mutating func begin(isAsked: Bool, pause: UInt64) -> Bool {
        let now = Clock.monotonic()
        held = Set(Signal.allCases.filter { circuits[$0]?.allows(at: now, isAsked: isAsked) == false })
        self.pause = pause
        isPaused = false
        if isOver { return false }
        pending = []
        return true
    }

    /// Ends a round.
    func end() { uploader.rest() }

    /// Delivers this instance's own batches, those of one of its stores.
    mutating func deliver(own store: inout some BatchStore & ~Copyable) {
        store.follow(shipper.status.account)
        deliverAll(of: &store, isOwn: true)
    }

    /// Delivers the batches that earlier processes left in a place.
    mutating func deliverAbandoned(in place: URL, except own: String) {
        for instance in BufferDirectory.instances(in: place) where instance != own && !isOver {
            guard var outbox = Outbox.adopt(instance: instance, in: place) else { continue }
            recovery.recover(&outbox)
            deliverAll(of: &outbox, isOwn: false)
            outbox.close()
        }
    }

    // MARK: -

    private var isOver: Bool { isPaused || held.count == Signal.allCases.count }

    private mutating func deliverAll(of outbox: inout some BatchStore & ~Copyable, isOwn: Bool) {
        var rest = (outbox.batches() ?? [])[...]
        note(outbox, isOwn: isOwn)
        while let batch = rest.popFirst() {
            if held.contains(batch.file.signal) {
                pending.insert(batch.file.signal)
                continue
            }
            isPaused = Clock.monotonic() >= pause
            if isPaused || Clock.monotonic() >= shipper.stopBy ?? .max { return }
            rest = deliver(batch, of: &outbox) + rest
            note(outbox, isOwn: isOwn)
        }
    }

    private func note(_ outbox: borrowing some BatchStore & ~Copyable, isOwn: Bool) {
        guard isOwn else { return }
        let account = outbox.account
        shipper.update { $0.account = account }
    }

    /// Returns the parts that have taken its place, if it was too large.
    private mutating func deliver(
        _ batch: StoredBatch, of outbox: inout some BatchStore & ~Copyable
    ) -> [StoredBatch] {
        if batch.isExpired {
            settle(batch, as: .dropped(.expired), in: &outbox)
            log.once(.rejected, "A batch that may have arrived weeks ago is not sent again")
            return []
        }
        // What cannot be read or marked now may be later, and what is gone is not in the next list.
        guard let body = outbox.read(batch.file), let file = outbox.mark(batch.file) else { return [] }
        let marked = StoredBatch(file: file, size: batch.size, modified: batch.modified)
        ShippingStep.marked.reach()
        uploader.start(body, batch: file.id(of: outbox.instance), isCompressed: file.isCompressed)
        let outcome = awaitOutcome()
        ShippingStep.answered.reach()
        switch outcome {
        case .delivered(let refusal):
            succeed(file.signal)
            let rejected = refusal.map { refusedRequests($0, of: file, body) } ?? 0
            settle(marked, as: .delivered(rejected: rejected), in: &outbox)
        case .retry(let time, let reason): postpone(file.signal, time, reason)
        case .split(let reason): return split(marked, body, reason, in: &outbox)
        case .dropped(let why, let reason):
            refuse(reason)
            settle(marked, as: .dropped(why), in: &outbox)
        }
        return []
    }

    private func settle(
        _ batch: StoredBatch, as settlement: Settlement, in outbox: inout some BatchStore & ~Copyable
    ) {
        outbox.settle(batch.file, as: settlement)
        shipper.update { $0.bufferedBytes = max(0, $0.bufferedBytes - batch.size) }
    }

    private mutating func split(
        _ batch: StoredBatch, _ body: [UInt8], _ reason: String, in outbox: inout some BatchStore & ~Copyable
    ) -> [StoredBatch] {
        guard let parts = BatchSplit.parts(of: batch.file, body: body) else {
            refuse(reason)
            settle(batch, as: .dropped(.tooLarge), in: &outbox)
            return []
        }
        do {
            try outbox.replace(batch.file, with: parts)
        } catch {
            postpone(batch.file.signal, .backOff, "\(reason), and its parts cannot be stored")
            return []
        }
        shipper.update { $0.bufferedBytes += parts.reduce(-batch.size) { $0 + $1.body.count } }
        return parts.map { StoredBatch(file: $0.file, size: $0.body.count, modified: Clock.wall()) }
    }

    /// A collector that counts data points tells of requests only where it took none of them.
    private func refusedRequests(_ refusal: UploadOutcome.Refusal, of file: BatchFile, _ body: [UInt8]) -> UInt64 {
        refuse(refusal.reason)
        if let requests = refusal.requests { return requests }
        guard file.signal == .metrics, let plain = file.plain(body) else { return 0 }
        let points = PartialSuccess.dataPoints(inBody: plain)
        return points > 0 && refusal.points >= points ? file.requests : 0
    }

    private func awaitOutcome() -> UploadOutcome {
        defer { uploader.cancel() }
        // libcurl has the same time-out; this one is for what it does not notice, and for a shutdown.
        let deadline = Clock.monotonic() &+ timeout &+ timeout / 4
        while true {
            if let outcome = uploader.proceed(for: MartletLimits.uploadStep) { return outcome }
            let now = Clock.monotonic()
            if now >= deadline || now >= shipper.stopBy ?? .max {
                return UploadOutcome(transportError: "no answer in time")
            }
            whileWaiting()
        }
    }

    private mutating func succeed(_ signal: Signal) {
        circuits[signal] = nil
        shipper.update {
            $0.lastUpload = Date()
            $0.uploadError = nil
        }
        log.again(.upload(signal), "Uploads of \(signal) to the collector work again")
    }

    /// A wrong path or token may be of one signal, all else is of the collector.
    private mutating func postpone(_ signal: Signal, _ time: RetryTime, _ reason: String) {
        let now = Clock.monotonic()
        for failed in time == .longest ? [signal] : Signal.allCases {
            circuits[failed, default: UploadCircuit()].fail(time, at: now)
            held.insert(failed)
        }
        pending.insert(signal)
        shipper.update { $0.uploadError = reason }
        log.once(
            .upload(signal),
            time == .longest
                ? "The collector takes no \(signal), which wait in the buffer; are MARTLET_ENDPOINT and MARTLET_TOKEN right? \(reason)"
                : "The collector cannot be reached, batches wait in the buffer: \(reason)")
    }

    private func refuse(_ reason: String) {
        shipper.update { $0.uploadError = reason }
        log.once(.rejected, "The collector refused a batch or a part of it, which is lost: \(reason)")
    }
}

extension StoredBatch {
    /// Whether the collector may have taken it so long ago that it would not know it any more.
    fileprivate var isExpired: Bool {
        let now = Clock.wall()
        return file.isSent && now > modified && now - modified > MartletLimits.unknownOutcome.nanoseconds
    }
}
