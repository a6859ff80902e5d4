import MartletTelemetry
import Synchronization

/// Takes note of the hours that points and figures of processes end in, before these are stored. So ``HourMaking`` knows which
/// hours have changed since they were made.
final class ChangedHours: Sendable {
    /// The time from ``rows(of:)`` to the points within which nobody makes these hours: see ``ClickHouseLimits/hourSettling``. After
    /// it the hours are noted once more.
    static let patience = Duration.seconds(60)

    /// The number of this process among those that write.
    private let writer = UInt64.random(in: 1 ... .max)
    private let revision = Atomic<UInt64>(0)

    /// Returns the rows that are stored before what ends in some hours.
    func rows(of hours: Set<UInt32>) -> TableRows {
        let revision = revision.wrappingAdd(1, ordering: .relaxed).newValue
        var rows = TableRows(Schema.changedHour)
        for hour in hours {
            rows.append { row in
                row.number(hour)
                row.number(writer)
                row.number(revision)
            }
        }
        return rows
    }
}
