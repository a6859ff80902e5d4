/// The wait after failed uploads. It doubles from ``MartletLimits/firstRetry`` to ``MartletLimits/lastRetry``. A random half
/// to whole of it is waited, so that the services of a collector that comes back do not come back all at once.
struct RetryDelay {
    private var failures = 0

    /// - Parameter asked: the collector's `Retry-After`, which makes the wait longer and never shorter: a collector whose
    ///   date is in our past would be asked again and again without a pause.
    mutating func next(asked: Duration? = nil, random: Double = .random(in: 0...1)) -> Duration {
        let doubled = MartletLimits.firstRetry * (1 << min(failures, 16))
        failures += 1
        return max(min(doubled, MartletLimits.lastRetry) * (0.5 + random / 2), asked ?? .zero)
    }

    /// Returns the wait after an attempt that kept a core busy until its time was up: eight times as long as the one before,
    /// up to ``MartletLimits/lastCostlyRetry``.
    mutating func nextCostly(random: Double = .random(in: 0...1)) -> Duration {
        let grown = MartletLimits.firstRetry * (1 << min(failures, 16))
        failures += 3
        return min(grown, MartletLimits.lastCostlyRetry) * (0.5 + random / 2)
    }

    /// Returns the wait after a failure that trying soon cannot mend.
    func longest(random: Double = .random(in: 0...1)) -> Duration { MartletLimits.lastRetry * (0.5 + random / 2) }
}
