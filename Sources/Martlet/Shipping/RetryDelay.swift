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
