import MartletTelemetry

/// The state that decides whether a route's batches are sent or wait. After a failure one batch is tried for each delay, and
/// the first that is taken lets all others through.
struct UploadCircuit {
    private var delay = RetryDelay()
    /// The time when the next attempt is due, in nanoseconds of the monotonic clock.
    private(set) var notBefore: UInt64
    /// The time until which another collector is preferred, if one takes batches.
    private var preferAgainAt: UInt64 = 0
    /// Whether the collector itself asked for the wait.
    private var serverRequestedDelay = false

    init(notBefore: UInt64 = 0) { self.notBefore = notBefore }

    /// - Parameter isCallerWaiting: whether the agent's own wait is cut short for a caller; a wait that the collector asked
    ///   for is not.
    func allows(at now: UInt64, isCallerWaiting: Bool) -> Bool {
        (isCallerWaiting && !serverRequestedDelay) || now >= notBefore
    }

    /// Whether enough time has passed since the last failure to leave another collector for this one.
    func mayPreferAgain(at now: UInt64) -> Bool { now >= preferAgainAt }

    /// - Parameters:
    ///   - wait: the random part of the wait, from 0 to 1.
    ///   - away: that of the time until another collector is not preferred any more.
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

/// The wait after failed uploads. It doubles from ``MartletLimits/firstRetry`` to ``MartletLimits/longestRetry``. A random half
/// to whole of it is waited, so that the services of a collector that comes back do not come back all at once.
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

    /// Returns a random time from the collector's `Retry-After` to half as long again, because it tells all its senders the
    /// same. It makes a wait longer and never shorter: a collector whose date is in our past would be asked again and again
    /// without a pause.
    private static func asked(_ retryAfter: Duration, _ random: Double) -> Duration { retryAfter * (1 + random / 2) }

    private mutating func nextBackOff() -> Duration { min(grow(by: 1), MartletLimits.longestRetry) }

    /// Returns eight times the wait before, up to ``MartletLimits/longestCostlyRetry``: the attempt kept a core busy until its
    /// time was up.
    private mutating func nextCostly() -> Duration { min(grow(by: 3), MartletLimits.longestCostlyRetry) }

    private mutating func grow(by steps: Int) -> Duration {
        defer { failures += steps }
        return MartletLimits.firstRetry * (1 << min(failures, 16))
    }
}

/// The pauses between the batches of a backlog. After an outage all agents of a fleet have one. So each of them waits for longer,
/// the longer the collector took to answer, and leaves it room for the others.
struct BacklogThrottle {
    private let longest: Duration
    /// The time of the slowest upload; it fades. A collector that is quick for one upload may only have refused others.
    private var slowest = Duration.zero
    /// The time when the next batch may be sent, in nanoseconds of the monotonic clock.
    private(set) var notBefore: UInt64 = 0

    /// - Parameter interval: the time in which an agent makes a batch. It sends several in that time, so that a backlog always
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
