import MartletTelemetry

extension HistogramPoint {
    /// Doubles count whole bytes exactly up to here.
    private static let maxBytes = 9_007_199_254_740_992.0
    /// No request took longer than a hundred years; sums of sums stay far from infinity.
    static let maxSeconds = 3.2e9

    /// The sum of sizes; `nil` when it is none that bytes can have.
    var bytes: UInt64? {
        sum.flatMap { (0...Self.maxBytes).contains($0) ? UInt64($0) : nil }
    }

    /// The sum of durations; `nil` when it is none that so many can have.
    ///
    /// - Parameter unit: of the durations, in seconds.
    func seconds(unit: Double = 1) -> Double? {
        sum.flatMap { $0 >= 0 && $0 * unit <= Self.maxSeconds * Double(count) ? $0 * unit : nil }
    }
}
