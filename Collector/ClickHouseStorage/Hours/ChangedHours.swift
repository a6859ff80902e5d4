import MartletPoints
import MartletTelemetry
import Synchronization

/// The hours that an insert changes.
struct HourChanges {
    /// The hours that points of metrics end in, of which early hours are made.
    private(set) var metrics: Set<UInt32> = []
    /// The hours that other points and figures of processes end in.
    private(set) var others: Set<UInt32> = []

    mutating func note(_ points: some Sequence<RequestPoint>) {
        for point in points {
            let hour = StoredHour.of(Int64(clamping: point.end))
            if point.series.source == .metrics { metrics.insert(hour) } else { others.insert(hour) }
        }
    }

    mutating func note(endOfOther end: UnixNanoseconds) { others.insert(StoredHour.of(Int64(clamping: end))) }
}

/// Takes note of the hours that points and figures of processes end in, before these are stored. So ``HourMaking`` knows which
/// hours have changed since they were made.
final class ChangedHours: Sendable {
    /// The time from ``rows(of:)`` to the points within which nobody makes these hours: see ``ClickHouseLimits/hourSettling``. After
    /// it the hours are noted once more.
    static let patience = Duration.seconds(60)

    /// The number of this process among those that write.
    private let writer = UInt64.random(in: 1 ... .max)
    private let revision = Atomic<UInt64>(0)

    /// Returns the rows that are stored before the changes.
    func rows(of changes: HourChanges) -> TableRows {
        let revision = revision.wrappingAdd(1, ordering: .relaxed).newValue
        var rows = TableRows(Schema.changedHour)
        for hour in changes.metrics.union(changes.others) {
            rows.append { row in
                row.number(hour)
                row.flag(changes.metrics.contains(hour))
                row.number(writer)
                row.number(revision)
            }
        }
        return rows
    }
}
