import MartletStorage
import MartletTelemetry

/// A change for a headline: rows that became worse, or better, in the same way and at the same time. So an outage that shows in
/// several rows is one headline.
package struct ChangeHeadline: Sendable, Equatable {
    /// The rows, the one that changed the most first.
    package private(set) var rows: [ReportRow]
    /// The names of the rows, which distinguish them from all other rows of the report; not escaped.
    package private(set) var names: [String]

    /// Returns the headlines of a compared report: worse rows before better ones, and larger changes before smaller ones.
    package static func all(in report: Report) -> [ChangeHeadline] {
        let names = RowName(of: report.rows, by: report.by)
        return report.rows.changed.reduce(into: []) { headlines, row in
            let name = names.of(row)
            if let index = headlines.firstIndex(where: { $0.isAbout(row, slot: report.step ?? 0) }) {
                headlines[index].rows.append(row)
                headlines[index].names.append(name)
            } else {
                headlines.append(ChangeHeadline(rows: [row], names: [name]))
            }
        }
    }

    /// - Parameter slot: the length of the slots that times are as precise as, in seconds.
    private func isAbout(_ row: ReportRow, slot: Double) -> Bool {
        guard let first = rows.first, let change = first.verdict?.change, let other = row.verdict?.change,
            change.isWorse == other.isWorse, change.isOfFailures == other.isOfFailures
        else { return false }
        guard let time = first.changed, let otherTime = row.changed else {
            return first.changed == row.changed && first.verdict == row.verdict
        }
        return time.isFromStart == otherTime.isFromStart && Self.isNear(time.from, otherTime.from, slot)
            && Self.isNear(time.until, otherTime.until, slot)
    }

    private static func isNear(_ one: String?, _ other: String?, _ slot: Double) -> Bool {
        guard let one, let other else { return one == other }
        guard let one = TimeText.parse(one, now: 0), let other = TimeText.parse(other, now: 0) else { return false }
        return Double(max(one, other) - min(one, other)) <= slot * 1e9
    }
}
