import Foundation
import MartletTelemetry

/// One signal on its way to one address: what fails and comes back by itself.
struct UploadLine: Hashable {
    let endpoint: URL
    let signal: Signal
}

/// Whether a signal's batches are sent or wait: after a failure one is tried for each delay, and the first that is taken
/// lets all others through.
struct UploadCircuit {
    private var delay = RetryDelay()
    /// By the monotonic clock: when the next attempt is due.
    private(set) var notBefore: UInt64
    /// The collector itself asked to be left alone until then.
    private var isToldToWait = false

    init(notBefore: UInt64 = 0) { self.notBefore = notBefore }

    /// - Parameter isAsked: somebody waits for it, so that the agent's own wait is cut short; the collector's is not.
    func allows(at now: UInt64, isAsked: Bool) -> Bool { (isAsked && !isToldToWait) || now >= notBefore }

    mutating func fail(_ time: RetryTime, at now: UInt64) {
        isToldToWait = false
        switch time {
        case .backOff: notBefore = now &+ delay.next().nanoseconds
        case .asked(let asked):
            isToldToWait = true
            notBefore = now &+ delay.next(asked: asked).nanoseconds
        case .costly: notBefore = now &+ delay.nextCostly().nanoseconds
        case .longest: notBefore = now &+ delay.longest().nanoseconds
        }
    }
}
