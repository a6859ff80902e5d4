import MartletOTLP
import MartletTelemetry

/// A point of a histogram with either kind of buckets.
struct HistogramPoint {
    enum Buckets: Equatable {
        /// `counts[i]` values are above `bounds[i - 1]` and at or below `bounds[i]`. Both are empty if the sender gives
        /// no buckets.
        case explicit(bounds: [Double], counts: [UInt64])
        case exponential(scale: Int32, zeroCount: UInt64, offset: Int32, counts: [UInt64], negative: [UInt64])

        /// Whether a value is in them.
        var hasValues: Bool {
            switch self {
            case .explicit(_, let counts): counts.contains { $0 > 0 }
            case .exponential(_, let zeroCount, _, let counts, let negative):
                zeroCount > 0 || counts.contains { $0 > 0 } || negative.contains { $0 > 0 }
            }
        }
    }

    /// The figures that both kinds of points have.
    struct Figures: Equatable {
        var start: UnixNanoseconds = 0
        var end: UnixNanoseconds = 0
        var count: UInt64 = 0
        /// `nil` if the sender gives none; likewise the bounds.
        var sum: Double?
        var min: Double?
        var max: Double?
    }

    let attributes: PointAttributes
    let figures: Figures
    let buckets: Buckets
    let temporality: OTLPAggregationTemporality

    var start: UnixNanoseconds { figures.start }
    var end: UnixNanoseconds { figures.end }
    var count: UInt64 { figures.count }
    var sum: Double? { figures.sum }

    /// The start of the interval. A delta without a start stands for the moment of its end, because nothing is known of
    /// the time before. So does one that ends before it starts: the sender's clock was set back in between.
    var intervalStart: UnixNanoseconds { temporality == .delta && (start == 0 || start > end) ? end : start }
}
