import MartletReports
import MartletStorage
import MartletTelemetry

/// The failed requests of a window by status and error, beside the window before.
struct FailureList: Sendable {
    struct Row: Sendable {
        let status: String?
        let error: String?
        let count: UInt64
        /// The same failures in the window before.
        let before: UInt64
        /// The ends of the first and of the latest interval with such a failure.
        let first: UnixNanoseconds?
        let last: UnixNanoseconds?

        /// The error, or the status if that is all there is.
        var name: String { error.flatMap { $0.isEmpty ? nil : $0 } ?? status ?? "no answer" }
    }

    /// The most frequent first.
    let rows: [Row]
    /// The kinds of failures that were left out.
    let more: Int
    /// The requests of the window before, failed or not; `nil` if it cannot be compared.
    let requestsBefore: UInt64?
    let failedBefore: UInt64
    /// The length of the intervals whose ends are known at least, in seconds.
    let precision: Double?

    /// - Parameters:
    ///   - answer: groups by status and error in slots as short as the times of failures are wanted, those with the most failures first.
    ///   - before: the same of the window before; `nil` if it cannot be compared.
    init(_ answer: StatisticsAnswer, before: StatisticsAnswer?) {
        let earlier = Dictionary(
            (before?.groups ?? []).map { ($0.values, $0.failed.requests) }, uniquingKeysWith: +)
        rows = answer.groups.enumerated().compactMap { index, group in
            guard !group.failed.isEmpty else { return nil }
            // The figures of a whole group may be read as hours, and those of slots are not.
            let ends = answer.slots?.groups[index].compactMap(\.ends) ?? []
            return Row(
                status: group.values[0], error: group.values[1], count: group.failed.requests,
                before: earlier[group.values] ?? 0, first: ends.first?.lowerBound, last: ends.last?.upperBound)
        }
        more = rows.count == answer.groups.count ? answer.groupCount - rows.count : 0
        precision = answer.slots.map { Double($0.grid.step) / 1e9 }
        requestsBefore = before.map { $0.totals.values.reduce(0) { $0 + $1.count } }
        failedBefore = (before?.totals ?? [:]).values.reduce(0) { $0 + $1.failed.requests }
    }

    /// Whether none of the requests in the window before failed in this way. Without requests there, nothing is new.
    func isNew(_ row: Row) -> Bool { row.before == 0 && (requestsBefore ?? 0) > 0 }

    /// The largest share that a failure can have had if none of so many requests failed: in 19 of 20 cases it is below three
    /// divided by their number.
    var boundOfNew: Double { min(1, 3 / Double(max(1, requestsBefore ?? 0))) }
}
