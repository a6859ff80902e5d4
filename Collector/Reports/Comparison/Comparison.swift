/// The verdicts on the compared rows of a report. Each row is judged by itself, so it gets the same verdict in every report.
///
/// docs/internals/comparison.md explains the steps to a reader of the verdicts, and has their measured error rates.
struct Comparison: Sendable {
    private var rows: [(verdict: Verdict, changed: ChangedTime?)]
    /// The hours of the longest past by which a row was judged; 0 if none was.
    let pastHours: Int

    init(_ verdicts: [Verdict], pastHours: Int) {
        rows = verdicts.map { ($0, nil) }
        self.pastHours = pastHours
    }

    /// The verdict on a row, by its index.
    subscript(row: Int) -> Verdict {
        get { rows[row].verdict }
        set { rows[row].verdict = newValue }
    }

    /// Returns when a row's change began and ended; `nil` if it is unknown.
    func changed(_ row: Int) -> ChangedTime? { rows[row].changed }

    mutating func set(_ time: ChangedTime?, of row: Int) { rows[row].changed = time }

    /// Returns whether a row is worse, by its index.
    func isWorse(_ row: Int) -> Bool { self[row].change?.isWorse == true }

    var worse: Int { rows.indices.count(where: isWorse) }
    var better: Int { rows.count { $0.verdict.change?.isWorse == false } }
    var tooLittleData: Int { rows.count { if case .tooLittleData = $0.verdict { true } else { false } } }
    var same: Int { rows.count - worse - better - tooLittleData }
}
