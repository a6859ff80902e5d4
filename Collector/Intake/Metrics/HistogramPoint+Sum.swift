import MartletTelemetry

extension HistogramPoint {
    /// The greatest sum of bytes: a Double counts whole bytes exactly up to here.
    private static let maxBytes = 9_007_199_254_740_992.0
    /// The longest duration, in seconds: a hundred years. Sums of sums stay far from infinity.
    static let maxSeconds = 3.2e9

    /// The sum of sizes, in bytes; `nil` if it is missing or not a number of bytes.
    var bytes: UInt64? {
        sum.flatMap { (0...Self.maxBytes).contains($0) ? UInt64($0) : nil }
    }

    /// Returns the sum of durations in seconds; `nil` if it is missing, or not possible for so many durations.
    ///
    /// - Parameter unit: the unit of the durations, in seconds.
    func seconds(unit: Double = 1) -> Double? {
        sum.flatMap { $0 >= 0 && $0 * unit <= Self.maxSeconds * Double(count) ? $0 * unit : nil }
    }
}
