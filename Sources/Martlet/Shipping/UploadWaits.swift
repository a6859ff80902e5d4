import MartletTelemetry

/// Decides whether a route's batches are sent or wait. After a failure one batch is tried after each delay, and the
/// first success lets all others through.
struct UploadCircuit {
    private var delay = RetryDelay()
    /// When the next attempt is due, in nanoseconds of the monotonic clock.
    private(set) var notBefore: UInt64
    /// The time until which another collector is preferred, if another one accepts batches.
    private var preferAgainAt: UInt64 = 0
    /// Whether the collector asked for the wait.
    private var serverRequestedDelay = false

    init(notBefore: UInt64 = 0) { self.notBefore = notBefore }

    /// - Parameter isCallerWaiting: whether to cut the agent's own wait short for a caller. A wait that the collector
    ///   asked for is not cut short.
    func allows(at now: UInt64, isCallerWaiting: Bool) -> Bool {
        (isCallerWaiting && !serverRequestedDelay) || now >= notBefore
    }

    /// Whether enough time has passed since the last failure to return to this collector from another.
    func mayPreferAgain(at now: UInt64) -> Bool { now >= preferAgainAt }

    /// - Parameters:
    ///   - wait: the random part of the wait, from 0 to 1.
    ///   - awayShare: the random part of the time for which another collector is preferred, from 0 to 1.
    mutating func fail(
        _ time: RetryWait, at now: UInt64, wait: Double = .random(in: 0...1), awayShare: Double = .random(in: 0...1)
    ) {
        if case .notBefore = time { serverRequestedDelay = true } else { serverRequestedDelay = false }
        notBefore = now &+ delay.next(time, random: wait).nanoseconds
        let (shortest, longest) = (MartletLimits.shortestAway, MartletLimits.longestAway)
        preferAgainAt = now &+ (shortest + (longest - shortest) * awayShare).nanoseconds
    }
}

/// The wait before a batch is sent again.
enum RetryWait: Equatable {
    /// After a delay that grows with each failure.
    case backOff
    /// Not before the time that the collector asked for.
    case notBefore(Duration)
    /// After the longest delay, because a person has to change a setting first.
    case longest
    /// After a delay that grows faster and longer: each attempt keeps a core busy.
    case costly
}

/// The wait after failed uploads. It doubles from ``MartletLimits/firstRetry`` to ``MartletLimits/longestRetry``. Each
/// wait is jittered to 50–100 % of the delay, so that services don't all reconnect at once when the collector recovers.
struct RetryDelay {
    private var failures = 0

    /// - Parameter random: a number from 0 to 1.
    mutating func next(_ time: RetryWait, random: Double = .random(in: 0...1)) -> Duration {
        switch time {
        case .backOff: nextBackOff() * (0.5 + random / 2)
        case .notBefore(let retryAfter): max(nextBackOff() * (0.5 + random / 2), Self.asked(retryAfter, random))
        case .costly: nextCostly() * (0.5 + random / 2)
        case .longest: MartletLimits.longestRetry * (0.5 + random / 2)
        }
    }

    /// Returns 100–150 % of `Retry-After`, because all senders get the same value. It never shortens the wait: if the
    /// date is already in the past, there would be no pause at all.
    private static func asked(_ retryAfter: Duration, _ random: Double) -> Duration { retryAfter * (1 + random / 2) }

    private mutating func nextBackOff() -> Duration { min(grow(by: 1), MartletLimits.longestRetry) }

    /// Returns eight times the previous wait, up to ``MartletLimits/longestCostlyRetry``: the attempt kept a core busy
    /// until it timed out.
    private mutating func nextCostly() -> Duration { min(grow(by: 3), MartletLimits.longestCostlyRetry) }

    private mutating func grow(by steps: Int) -> Duration {
        defer { failures += steps }
        return MartletLimits.firstRetry * (1 << min(failures, 16))
    }
}

/// The pauses between the batches of a backlog. After an outage all agents of a fleet have a backlog. The longer the
/// collector takes to answer, the longer each agent pauses, which leaves room for the others.
struct BacklogThrottle {
    private let longest: Duration
    /// The time of the slowest upload, which decays. A single quick answer may mean only that the collector refused
    /// others.
    private var slowest = Duration.zero
    /// When the next batch may be sent, in nanoseconds of the monotonic clock.
    private(set) var notBefore: UInt64 = 0

    /// - Parameter interval: how often an agent makes a batch. Every pause is shorter, so that a backlog always
    ///   shrinks.
    init(interval: Duration) { longest = interval * MartletLimits.longestPacing }

    /// Notes an upload that has ended.
    ///
    /// - Parameters:
    ///   - duration: the time that it took.
    ///   - random: a number from 0 to 1.
    mutating func note(_ duration: Duration, at now: UInt64, random: Double = .random(in: 0...1)) {
        slowest = max(duration, slowest * MartletLimits.pacingMemory)
        let pause = min(slowest * (1 / MartletLimits.uploadShare - 1), longest)
        notBefore = now &+ (pause * (0.5 + random / 2)).nanoseconds
    }
}
