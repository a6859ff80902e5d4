/// The wait after failed uploads. It doubles from ``MartletLimits/firstRetry`` to ``MartletLimits/longestRetry``. A random half
/// to whole of it is waited, so that the services of a collector that comes back do not come back all at once.
struct RetryDelay {
    private var failures = 0

    /// - Parameter retryAfter: the collector's `Retry-After`, which makes the wait longer and never shorter: a collector whose
    ///   date is in our past would be asked again and again without a pause.
    mutating func next(retryAfter: Duration? = nil, random: Double = .random(in: 0...1)) -> Duration {
        let doubled = MartletLimits.firstRetry * (1 << min(failures, 16))
        failures += 1
        return max(min(doubled, MartletLimits.longestRetry) * (0.5 + random / 2), retryAfter ?? .zero)
    }

    /// Returns the wait after an attempt that kept a core busy until its time was up: eight times as long as the one before,
    /// up to ``MartletLimits/longestCostlyRetry``.
    mutating func nextCostly(random: Double = .random(in: 0...1)) -> Duration {
        let grown = MartletLimits.firstRetry * (1 << min(failures, 16))
        failures += 3
        return min(grown, MartletLimits.longestCostlyRetry) * (0.5 + random / 2)
    }

    /// Returns the wait after a failure that trying soon cannot mend.
    func longest(random: Double = .random(in: 0...1)) -> Duration { MartletLimits.longestRetry * (0.5 + random / 2) }
}
