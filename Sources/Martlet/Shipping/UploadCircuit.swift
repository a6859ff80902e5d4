/// The state that decides whether a route's batches are sent or wait. After a failure one batch is tried for each delay, and
/// the first that is taken lets all others through.
struct UploadCircuit {
    private var delay = RetryDelay()
    /// The time when the next attempt is due, in nanoseconds of the monotonic clock.
    private(set) var notBefore: UInt64
    /// Whether the collector itself asked for the wait.
    private var isToldToWait = false

    init(notBefore: UInt64 = 0) { self.notBefore = notBefore }

    /// - Parameter isCallerWaiting: whether the agent's own wait is cut short for a caller; a wait that the collector asked
    ///   for is not.
    func allows(at now: UInt64, isCallerWaiting: Bool) -> Bool {
        (isCallerWaiting && !isToldToWait) || now >= notBefore
    }

    mutating func fail(_ time: RetryTime, at now: UInt64) {
        isToldToWait = false
        switch time {
        case .backOff: notBefore = now &+ delay.next().nanoseconds
        case .notBefore(let retryAfter):
            isToldToWait = true
            notBefore = now &+ delay.next(retryAfter: retryAfter).nanoseconds
        case .costly: notBefore = now &+ delay.nextCostly().nanoseconds
        case .longest: notBefore = now &+ delay.longest().nanoseconds
        }
    }
}
