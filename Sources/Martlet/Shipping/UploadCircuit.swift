/// The state that decides whether a route's batches are sent or wait. After a failure one batch is tried for each delay, and
/// the first that is taken lets all others through.
struct UploadCircuit {
    private var delay = RetryDelay()
    /// The time when the next attempt is due, in nanoseconds of the monotonic clock.
    private(set) var notBefore: UInt64
    /// The time until which another collector is preferred, if one takes batches.
    private var returnTime: UInt64 = 0
    /// Whether the collector itself asked for the wait.
    private var isToldToWait = false

    init(notBefore: UInt64 = 0) { self.notBefore = notBefore }

    /// - Parameter isCallerWaiting: whether the agent's own wait is cut short for a caller; a wait that the collector asked
    ///   for is not.
    func allows(at now: UInt64, isCallerWaiting: Bool) -> Bool {
        (isCallerWaiting && !isToldToWait) || now >= notBefore
    }

    /// Whether enough time has passed since the last failure to leave another collector for this one.
    func mayReturn(at now: UInt64) -> Bool { now >= returnTime }

    /// - Parameters:
    ///   - wait: the random part of the wait, from 0 to 1.
    ///   - away: that of the time until another collector is not preferred any more.
    mutating func fail(
        _ time: RetryWait, at now: UInt64, wait: Double = .random(in: 0...1), away: Double = .random(in: 0...1)
    ) {
        if case .notBefore = time { isToldToWait = true } else { isToldToWait = false }
        notBefore = now &+ delay.next(time, random: wait).nanoseconds
        let (shortest, longest) = (MartletLimits.shortestAway, MartletLimits.longestAway)
        returnTime = now &+ (shortest + (longest - shortest) * away).nanoseconds
    }
}
