import MartletPoints
import MartletTelemetry
import Synchronization

/// Takes note of the hours that points of metrics end in, before the points are stored. So ``EarlyHours`` knows which hours have
/// changed since they were made.
final class ChangedHours: Sendable {
    /// The time from ``rows(before:)`` to the points within which nobody makes these hours: see ``ClickHouseLimits/hourSettling``.
    /// After it the hours are noted once more.
    static let patience = Duration.seconds(60)

    /// The number of this process among those that write.
    private let writer = UInt64.random(in: 1 ... .max)
    private let revision = Atomic<UInt64>(0)

    /// Returns the rows that are stored before points.
    func rows(before points: some Sequence<RequestPoint>) -> TableRows {
        let ends = points.lazy.filter { $0.series.source == .metrics }.map { StoredHour.of(Int64(clamping: $0.end)) }
        let revision = revision.wrappingAdd(1, ordering: .relaxed).newValue
        var rows = TableRows(Schema.changedHour)
        for hour in Set(ends) {
            rows.append { row in
                row.number(hour)
                row.number(writer)
                row.number(revision)
            }
        }
        return rows
    }
}
