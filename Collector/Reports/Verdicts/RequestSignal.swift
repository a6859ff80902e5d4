/// A property that a request has or does not have. The share of requests with it is compared between windows.
package enum RequestSignal: Int, Sendable, CaseIterable {
    /// It failed.
    case failures
    /// It took longer than the p50 of the row's past.
    case p50
    case p95
    case p99

    /// The quantile whose value is the bound, 0...1; `nil` for failures.
    package var quantile: Double? {
        switch self {
        case .failures: nil
        case .p50: 0.5
        case .p95: 0.95
        case .p99: 0.99
        }
    }

    /// The part of a row's false findings. They add up to 1.
    var weight: Double {
        switch self {
        case .failures: 0.5
        case .p50, .p95: 0.2
        case .p99: 0.1
        }
    }

    /// The least standard deviation of the logit of a minute's share. It is assumed for a row without a past, whose few minutes may
    /// resemble each other by chance.
    var minDeviation: Double {
        switch self {
        case .failures: 0.5
        case .p50, .p95: 0.3
        case .p99: 0.4
        }
    }

    /// The least difference between two shares of failed requests, 0...1; and the factor between two shares of failed requests, or
    /// of successful ones.
    private static let (minDifference, minShareFactor) = (0.001, 1.5)
    /// The factor between two quantiles.
    private static let minQuantileFactor = 1.1

    /// Returns whether a change is large enough to report. With millions of requests even a difference of a hundredth is certain,
    /// but nobody would act on it.
    ///
    /// - Parameters:
    ///   - before, after: shares of failed requests, or quantiles.
    func isWorthReporting(_ before: Double, _ after: Double, _ direction: ChangeDirection) -> Bool {
        guard self == .failures else {
            return direction == .worse
                ? after >= Self.minQuantileFactor * before : before >= Self.minQuantileFactor * after
        }
        return direction.sign * (after - before) >= Self.minDifference
            && (Self.isFar(before, after) || Self.isFar(1 - before, 1 - after))
    }

    private static func isFar(_ one: Double, _ other: Double) -> Bool {
        max(one, other) >= minShareFactor * min(one, other)
    }

    /// Returns the factor by which a quantile has to grow to be reported.
    static var smallestGrowth: Double { minQuantileFactor }
}

package enum ChangeDirection: Int, Sendable, CaseIterable {
    case worse
    case better

    var sign: Double { self == .worse ? 1 : -1 }

    /// The part of the level.
    var level: Double { self == .worse ? VerdictConstants.worse : VerdictConstants.better }
}
