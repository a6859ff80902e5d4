import Foundation
import MartletTelemetry

/// Uploads batches, the oldest first: those of dead instances, then this one's own. One at a time, each until the
/// collector acknowledged it; the first failure that may pass ends the round.
struct Delivery {
    private let uploader: Uploader
    private let shipper: Shipper
    private let log: AgentLog
    private let timeout: UInt64
    private var delay = RetryDelay()
    private var notBefore: UInt64 = 0
    /// The collector itself asked to be left alone until ``notBefore``.
    private var isToldToWait = false
    private var isPending = false
    private var pause: UInt64 = .max
    private var isPaused = false

    init(_ configuration: MartletConfiguration, log: AgentLog, shipper: Shipper) {
        uploader = Uploader(configuration) { shipper.signal() }
        timeout = configuration.exportTimeout.nanoseconds
        self.shipper = shipper
        self.log = log
    }

    /// By the monotonic clock: when the next attempt is due; never while nothing waits.
    var nextAttempt: UInt64 { isPending ? notBefore : .max }

    /// - Parameters:
    ///   - isAsked: somebody waits for it, so that the agent's own wait is cut short; the collector's is not.
    ///   - pause: by the monotonic clock: no upload begins later, so that sealing does not wait for a full buffer.
    /// - Returns: `false` when it stopped there and there may be more.
    mutating func deliver(own: borrowing Outbox, service: URL?, isAsked: Bool, pause: UInt64) -> Bool {
        guard (isAsked && !isToldToWait) || Clock.monotonic() >= notBefore else { return true }
        isPending = true
        self.pause = pause
        isPaused = false
        if let service, !deliverAbandoned(in: service, except: own.instance) { return !isPaused }
        if !deliverAll(of: own, isOwn: true) { return !isPaused }
        isPending = false
        return true
    }

    func close() { uploader.close() }

    // MARK: -

    /// What an earlier process left. `false` when the round is over.
    private mutating func deliverAbandoned(in service: URL, except own: String) -> Bool {
        for instance in BufferDirectory.instances(in: service).sorted() where instance != own {
            guard let outbox = Outbox.adopt(instance: instance, in: service) else { continue }
            outbox.removeTemporaryFiles()
            let isDone = deliverAll(of: outbox, isOwn: false)
            outbox.close()
            if !isDone { return false }
        }
        return true
    }

    private mutating func deliverAll(of outbox: borrowing Outbox, isOwn: Bool) -> Bool {
        guard let batches = outbox.batches() else { return true }
        if isOwn { shipper.update { $0.dropStored(exceptIn: batches) } }
        for file in batches {
            isPaused = Clock.monotonic() >= pause
            if isPaused { return false }
            // What cannot be read now may be later, and what is gone is not in the next list.
            guard let body = outbox.read(file) else { continue }
            let id = BatchID(instance: outbox.instance, sequence: file.sequence, signal: file.signal)
            uploader.start(body, batch: id, isCompressed: file.isCompressed)
            switch awaitOutcome() {
            case .delivered:
                succeed()
                if isOwn { shipper.update { $0.deliver(file.requests) } }
            case .rejected(let reason):
                refuse(reason)
                if isOwn { shipper.update { $0.drop(file.requests, .rejected) } }
            case .retry(let after, let reason):
                postpone(after, reason)
                return false
            }
            outbox.remove(file)
            shipper.update { $0.bufferedBytes = max(0, $0.bufferedBytes - body.count) }
        }
        return true
    }

    private func awaitOutcome() -> UploadOutcome {
        // The session has its own time-out; this one is for what the session does not notice.
        let deadline = Clock.monotonic() &+ timeout &+ timeout / 4
        while true {
            if let outcome = uploader.outcome { return outcome }
            let now = Clock.monotonic()
            if now >= deadline || now >= shipper.stopBy ?? .max {
                uploader.cancel()
                return UploadOutcome(transportError: "no answer in time")
            }
            shipper.wait(until: deadline)
        }
    }

    private mutating func succeed() {
        delay.reset()
        isToldToWait = false
        shipper.update {
            $0.lastUpload = Date()
            $0.uploadError = nil
        }
        log.again(.upload, "Uploads to the collector work again")
    }

    private mutating func postpone(_ after: Duration?, _ reason: String) {
        isToldToWait = after != nil
        notBefore = Clock.monotonic() &+ delay.next(asked: after).nanoseconds
        shipper.update { $0.uploadError = reason }
        log.once(.upload, "The collector cannot be reached, batches wait in the buffer: \(reason)")
    }

    private func refuse(_ reason: String) {
        shipper.update { $0.uploadError = reason }
        log.once(.rejected, "The collector refused a batch, which is lost: \(reason)")
    }
}
