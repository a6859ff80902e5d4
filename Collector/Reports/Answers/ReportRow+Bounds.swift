import MartletStorage

extension ReportRow.Bounds {
    /// Returns `nil` if all requests arrived.
    ///
    /// Of n requests that arrived and m that are missing, all of the missing ones may be faster than all others, or slower.
    ///
    /// - Parameters:
    ///   - share: that of a quantile, 0...1.
    ///   - completeness: n / (n + m).
    init?(of share: Double, _ group: RequestGroup, completeness: Double) {
        guard completeness < 1, completeness > 0 else { return nil }
        let (lowest, highest) = (max(0, (share - (1 - completeness)) / completeness), share / completeness)
        let bounds = group.quantiles([lowest, min(highest, 1)])
        guard let from = bounds[0], let to = bounds[1] else { return nil }
        self.init(
            from: Milliseconds.of(from), to: highest < 1 ? Milliseconds.of(to) : nil)
    }
}
