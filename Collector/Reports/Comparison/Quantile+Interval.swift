import MartletTelemetry

extension Verdict.Quantile {
    private static let intervalLevel = 0.05

    /// Creates a quantile with Woodruff's interval: the quantiles at the ends of the interval that the share of requests up to
    /// it has ("Confidence Intervals for Medians and Other Position Measures", Journal of the American Statistical Association
    /// 47, 1952).
    ///
    /// - Parameter share: 0...1.
    init(_ share: Double, of window: WindowCounts) {
        var (rest, bound) = (share * window.totals.reduce(0, +), 0)
        while bound < window.totals.count, rest > 0 {
            rest -= window.totals[bound]
            bound += 1
        }
        let above = window.share(above: bound)
        let variance = max(above.variance, share * (1 - share) / above.size)
        let studentT = StudentT(degreesOfFreedom: Double(above.sizes.count - 1))
        let reach = studentT.critical(Self.intervalLevel) * variance.squareRoot()
        let quantiles = window.durations.quantiles([share - reach, share, share + reach]).map {
            Milliseconds.of($0 ?? 0)
        }
        value = quantiles[1]
        interval = min(quantiles[0], value)...max(value, quantiles[2])
    }
}
