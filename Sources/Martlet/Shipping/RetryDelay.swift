/// How long to wait after failed uploads: doubling from ``MartletLimits/firstRetry`` to ``MartletLimits/lastRetry``, and
/// of that a random half to whole, so that the services of a collector that comes back do not come back all at once.
struct RetryDelay {
    private var failures = 0

    mutating func next(random: Double = .random(in: 0...1)) -> Duration {
        let doubled = MartletLimits.firstRetry * (1 << min(failures, 16))
        failures += 1
        return min(doubled, MartletLimits.lastRetry) * (0.5 + random / 2)
    }

    mutating func reset() { failures = 0 }
}
