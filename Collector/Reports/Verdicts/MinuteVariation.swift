import Foundation

/// The variance of a mean of minutes that depend on each other.
enum MeanVariance {
    /// Returns the variance of the mean of a number of minutes with the assumed autocorrelation, as a part of the variance of one.
    static func ofMinutes(_ count: Double) -> Double {
        let rho = VerdictConstants.assumedAutocorrelation
        return ((1 + rho) / (1 - rho) - 2 * rho * (1 - pow(rho, count)) / (count * (1 - rho) * (1 - rho))) / count
    }
}

extension [SignalCounts] {
    /// The number of minutes that carry the requests; at least 1.
    var effectiveCount: Double {
        let sum = reduce(0) { $0 + $1.all }
        let squares = reduce(0) { $0 + $1.all * $1.all }
        return Swift.max(sum * sum / Swift.max(squares, 1), 1)
    }

    var sum: SignalCounts { reduce(SignalCounts(0, of: 0), +) }
}

/// The variation of minutes of a row whose past does not show it. Minutes have ``VerdictConstants/assumedAutocorrelation``.
struct MinuteVariation {
    /// The variance of the logit of a minute's share, beyond that of independent requests.
    let variance: Double
    /// The number of minutes that carry the requests of each window.
    let windowCounts: [Double]

    /// - Parameter windows: the minutes of windows in each of which nothing has changed.
    init(_ signal: RequestSignal, _ windows: [[SignalCounts]]) {
        var (squares, weight, inside) = (0.0, 0.0, 0.0)
        windowCounts = windows.map(\.effectiveCount)
        for (minutes, count) in zip(windows, windowCounts) {
            let sum = minutes.sum
            let (spread, size) = (sum.spread, max(sum.all, 1))
            for minute in minutes {
                let difference = minute.having - minute.all * sum.having / size
                squares += difference * difference / (max(minute.all, 1) * spread)
                weight += spread * minute.all * (1 - minute.all / size)
            }
            squares -= Double(minutes.count { $0.all > 0 } - 1)
            inside = max(inside, MeanVariance.ofMinutes(count))
        }
        // The minutes of a window resemble each other, so they show only a part of their variance.
        let seen = max(squares, 0) / max(weight, 1e-9) / (1 - Swift.min(inside, 0.9))
        variance = max(signal.minDeviation * signal.minDeviation, seen)
    }

    /// The noise of the difference between the windows.
    var noise: Double { variance * windowCounts.reduce(0) { $0 + MeanVariance.ofMinutes($1) } }
}
