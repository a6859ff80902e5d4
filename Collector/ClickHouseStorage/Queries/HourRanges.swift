/// Conditions on hours that ClickHouse looks up in a table's key.
enum HourRanges {
    /// Returns the condition that a row's hour is in a range and not one of some others, in ascending order; `nil` if none is.
    static func condition(from first: Int64, through last: Int64, without others: [UInt32]) -> String? {
        var (first, ranges) = (first, [String]())
        for hour in others.map(Int64.init) + [last + 1] {
            if first < hour { ranges.append("hour BETWEEN \(first) AND \(hour - 1)") }
            first = max(first, hour + 1)
        }
        return ranges.isEmpty ? nil : "(\(ranges.joined(separator: " OR ")))"
    }
}
