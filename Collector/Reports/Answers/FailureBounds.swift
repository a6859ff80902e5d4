/// The failure rates that missing requests leave open: from the rate if none of them failed to the rate if all of them did.
package struct FailureBounds: Sendable, Equatable {
    package let lowest: Double
    package let highest: Double

    /// Returns `nil` if nothing is missing.
    ///
    /// - Parameters:
    ///   - failed: requests that failed, of those that arrived.
    ///   - count: requests that arrived.
    ///   - missing: requests that did not arrive, at most.
    package init?(failed: UInt64, of count: UInt64, missing: UInt64) {
        guard missing > 0 else { return nil }
        let all = Double(count) + Double(missing)
        lowest = Double(min(failed, count)) / all
        highest = (Double(min(failed, count)) + Double(missing)) / all
    }

    /// Both rates in per cent, such as `3.02–5.72`.
    package var text: String { FigureText.percent(lowest) + "–" + FigureText.percent(highest) }
}
