/// Tells which rows of a report have changed from one window to another by more than they vary by themselves. Pure.
///
/// docs/comparison.md explains the steps to a reader of the verdicts, and has their measured error rates.
package struct Comparison: Sendable {
    /// The requests that a row needs in each window.
    package static let minRequests: UInt64 = 30
    /// The blocks with requests that a row needs in each window.
    package static let minBlocks = 6

    /// Rows whose tests are kept until their verdicts are asked for. Those of more would take much memory, and are made again.
    private static let maxKeptTests = 200

    private let rows: [ComparedRow]
    /// The tests that are kept, by the index of their row.
    private let tests: [Int: RowTests]
    /// The reason why a row cannot be compared; `nil` for those that are.
    private let shortages: [Verdict.Shortage?]
    /// The verdicts on the rows that changed, by their index.
    private let changes: [Int: Verdict]
    /// The levels up to which one more result would have counted.
    private let missed: RowTests.Levels

    /// Tests all rows.
    ///
    /// Of the changes of failures that are found, one in a hundred is false on average, and so of those of durations. The two
    /// are different questions, and many tests of the one must not make the other harder to answer.
    ///
    /// - Parameter rows: the rows of a report that are compared, chosen by their order, and not those alone that look changed. They are judged together, because among
    ///   many rows some look changed by chance.
    package init(of rows: [ComparedRow]) {
        let shortages = rows.map(Verdict.Shortage.init)
        let compared = rows.indices.filter { shortages[$0] == nil }
        var tests: [Int: RowTests] = [:]
        let results = compared.map { row in
            let made = RowTests(rows[row])
            if compared.count <= Self.maxKeptTests { tests[row] = made }
            return made.pValues
        }
        let failures = FalseDiscoveryRate(results.compactMap(\.failures))
        let durations = FalseDiscoveryRate(results.flatMap(\.durations))
        let found = RowTests.Levels(failures: failures.level, durations: durations.level)
        let changed = zip(compared, results).filter { $1.count(at: found) }.compactMap { row, _ in
            Verdict((tests[row] ?? RowTests(rows[row])).changes(found)).map { (row, $0) }
        }
        (self.rows, self.shortages, self.tests) = (rows, shortages, tests)
        changes = Dictionary(changed) { first, _ in first }
        missed = RowTests.Levels(failures: failures.levelOfOneMore, durations: durations.levelOfOneMore)
    }

    /// The verdict on a row, by its index.
    package subscript(row: Int) -> Verdict {
        if let change = changes[row] { return change }
        if let shortage = shortages[row] { return .tooLittleData(shortage) }
        return .noChangeFound(wouldHaveSeen: (tests[row] ?? RowTests(rows[row])).smallestChange(missed))
    }

    /// Returns whether a row is worse, by its index.
    func isWorse(_ row: Int) -> Bool { if case .worse = changes[row] { true } else { false } }

    package var worse: Int { changes.keys.count(where: isWorse) }
    package var better: Int { changes.count - worse }
    package var tooLittleData: Int { shortages.count { $0 != nil } }
    package var same: Int { rows.count - changes.count - tooLittleData }
}

extension Verdict {
    /// Creates nothing if there are no changes.
    fileprivate init?(_ changes: Changes) {
        let quantiles = [changes.p50, changes.p95, changes.p99].compactMap {
            $0.map { $0.after.value > $0.before.value }
        }
        let isWorse = quantiles + (changes.failures.map { [$0.after > $0.before] } ?? [])
        guard !isWorse.isEmpty else { return nil }
        self = isWorse.contains(true) ? .worse(changes) : .better(changes)
    }
}
