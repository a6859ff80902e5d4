/// How long to wait after failed uploads: doubling from ``MartletLimits/firstRetry`` to ``MartletLimits/lastRetry``, and
/// of that a random half to whole, so that the services of a collector that comes back do not come back all at once.
struct RetryDelay {
    private var failures = 0

    /// - Parameter asked: the collector's `Retry-After`, which makes the wait longer and never shorter: a collector whose
    ///   date is in our past would be asked again and again without a pause.
    mutating func next(asked: Duration? = nil, random: Double = .random(in: 0...1)) -> Duration {
        let doubled = MartletLimits.firstRetry * (1 << min(failures, 16))
        failures += 1
        return max(min(doubled, MartletLimits.lastRetry) * (0.5 + random / 2), asked ?? .zero)
    }

    /// Where an attempt keeps a core busy until its time is up: eight times as long as the one before, up to
    /// ``MartletLimits/lastCostlyRetry``.
    mutating func nextCostly(random: Double = .random(in: 0...1)) -> Duration {
        let grown = MartletLimits.firstRetry * (1 << min(failures, 16))
        failures += 3
        return min(grown, MartletLimits.lastCostlyRetry) * (0.5 + random / 2)
    }

    /// Where trying soon is of no use.
    func longest(random: Double = .random(in: 0...1)) -> Duration { MartletLimits.lastRetry * (0.5 + random / 2) }
}
