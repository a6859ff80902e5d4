import Foundation
import MartletTelemetry

/// One signal on its way to one address. A failure holds back a line, and a success lets it through again.
struct UploadLine: Hashable {
    let endpoint: URL
    let signal: Signal
}

/// The state that decides whether a line's batches are sent or wait. After a failure one batch is tried for each delay, and
/// the first that is taken lets all others through.
struct UploadCircuit {
    private var delay = RetryDelay()
    /// The time when the next attempt is due, in nanoseconds of the monotonic clock.
    private(set) var notBefore: UInt64
    /// Whether the collector itself asked for the wait.
    private var isToldToWait = false

    init(notBefore: UInt64 = 0) { self.notBefore = notBefore }

    /// - Parameter isAsked: a caller waits, so that the agent's own wait is cut short; a wait that the collector asked for is
    ///   not.
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
