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

extension [ReportRow] {
    /// The rows that became worse, then those that became better, each with larger changes before smaller ones.
    var changed: [ReportRow] {
        let sizes: [ChangeSize?] = map { $0.verdict?.change }
        let places = indices.filter { sizes[$0] != nil }.sorted { (one: Int, other: Int) -> Bool in
            guard let first = sizes[one], let second = sizes[other], first != second else { return one < other }
            return second < first
        }
        return places.map { self[$0] }
    }
}

extension Verdict {
    /// How much a row changed; `nil` if it is neither worse nor better.
    var change: ChangeSize? {
        switch self {
        case .worse(let changes): ChangeSize(changes, isWorse: true)
        case .better(let changes): ChangeSize(changes, isWorse: false)
        case .noChangeFound, .tooLittleData: nil
        }
    }
}

/// How much a row changed. Worse rows are greater than better ones, and a change of failures is greater than one of durations.
struct ChangeSize: Comparable {
    let isWorse: Bool
    /// The change of the share of failed requests in the verdict's direction, 0...1; 0 if it did not change so.
    private let failures: Double
    /// The largest ratio of a quantile's two figures.
    private let ratio: Double

    init(_ changes: Verdict.Changes, isWorse: Bool) {
        self.isWorse = isWorse
        let rise = changes.failures.map { $0.after - $0.before } ?? 0
        failures = max(0, isWorse ? rise : -rise)
        ratio = [changes.p50, changes.p95, changes.p99].compactMap { $0 }.reduce(1) { largest, change in
            let (before, after) = (max(change.before.value, 1e-6), max(change.after.value, 1e-6))
            return max(largest, isWorse ? after / before : before / after)
        }
    }

    /// Whether failures changed; otherwise only durations did.
    var isOfFailures: Bool { failures > 0 }

    static func < (one: ChangeSize, other: ChangeSize) -> Bool {
        guard one.isWorse == other.isWorse else { return other.isWorse }
        return one.failures == other.failures ? one.ratio < other.ratio : one.failures < other.failures
    }
}
