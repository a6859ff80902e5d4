import MartletStorage

/// Finds the rows of a report that changed from one window to another by more than their normal variation. Pure.
///
/// docs/comparison.md explains the steps to a reader of the verdicts, and has their measured error rates.
struct Comparison: Sendable {
    /// The fewest requests that a row needs in each window.
    static let minRequests: UInt64 = 30
    /// The fewest blocks with requests that a row needs in each window.
    static let minBlocks = 6

    /// The most rows whose tests are kept until their verdicts are needed. More would take much memory, so those tests are
    /// recomputed.
    private static let maxKeptTests = 200

    private let rows: [ComparedRow]
    /// The kept tests, by the index of their row.
    private let tests: [Int: RowComparison]
    /// Why a row cannot be compared; `nil` for rows that are compared.
    private let shortages: [Verdict.Shortage?]
    /// The verdicts on changed rows, by their index.
    private let changes: [Int: Verdict]
    /// The levels at which one more result would have counted.
    private let missed: RowComparison.Levels

    /// Tests all rows.
    ///
    /// On average, one in a hundred of the changes of failures that are found is false, and so is one in a hundred of the
    /// changes of durations. The two are judged separately, so that many tests of one do not make changes of the other harder
    /// to find.
    ///
    /// - Parameter rows: the compared rows of a report. They must be chosen by their order in the report, and not because they
    ///   look changed. They are judged together, because among many rows some look changed by chance.
    init(of rows: [ComparedRow]) {
        let shortages = rows.map(Verdict.Shortage.init)
        let compared = rows.indices.filter { shortages[$0] == nil }
        var tests: [Int: RowComparison] = [:]
        let results = compared.map { row in
            let made = RowComparison(rows[row])
            if compared.count <= Self.maxKeptTests { tests[row] = made }
            return made.pValues
        }
        let failures = FalseDiscoveryRate(results.compactMap(\.failures))
        let durations = FalseDiscoveryRate(results.flatMap(\.durations))
        let found = RowComparison.Levels(failures: failures.level, durations: durations.level)
        let changed = zip(compared, results).filter { $1.count(at: found) }.compactMap { row, _ in
            Verdict((tests[row] ?? RowComparison(rows[row])).changes(found)).map { (row, $0) }
        }
        (self.rows, self.shortages, self.tests) = (rows, shortages, tests)
        changes = Dictionary(changed) { first, _ in first }
        missed = RowComparison.Levels(failures: failures.levelOfOneMore, durations: durations.levelOfOneMore)
    }

    /// The verdict on a row, by its index.
    subscript(row: Int) -> Verdict {
        if let change = changes[row] { return change }
        if let shortage = shortages[row] { return .tooLittleData(shortage) }
        return .noChangeFound(wouldHaveSeen: (tests[row] ?? RowComparison(rows[row])).smallestChange(missed))
    }

    /// Returns whether a row is worse, by its index.
    func isWorse(_ row: Int) -> Bool { if case .worse = changes[row] { true } else { false } }

    var worse: Int { changes.keys.count(where: isWorse) }
    var better: Int { changes.count - worse }
    var tooLittleData: Int { shortages.count { $0 != nil } }
    var same: Int { rows.count - changes.count - tooLittleData }
}

extension Verdict {
    /// Returns `nil` if there are no changes.
    fileprivate init?(_ changes: Changes) {
        let quantiles = [changes.p50, changes.p95, changes.p99].compactMap {
            $0.map { $0.after.value > $0.before.value }
        }
        let isWorse = quantiles + (changes.failures.map { [$0.after > $0.before] } ?? [])
        guard !isWorse.isEmpty else { return nil }
        self = isWorse.contains(true) ? .worse(changes) : .better(changes)
    }
}

/// The requests of one row of a report in two windows, with a group for each block of ``ComparisonBlocks``. The windows may differ
/// in length and in their number of blocks.
struct ComparedRow: Sendable {
    var before: [RequestGroup]
    var after: [RequestGroup]
    /// Whether the later window follows the earlier one. It does not if two versions are compared in the same window.
    var isLater: Bool

    /// - Parameters:
    ///   - before: the blocks of the earlier window. A block without requests is empty or left out.
    ///   - after: the blocks of the later window, in the same form.
    init(before: [RequestGroup], after: [RequestGroup], isLater: Bool = true) {
        self.before = before
        self.after = after
        self.isLater = isLater
    }
}

/// The level at which results of many tests count, so that on average one in a hundred of those that count is false (Benjamini and
/// Hochberg: "Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57, 1995).
struct FalseDiscoveryRate {
    static let rate = 0.01

    /// Results with a p-value up to this level count; 0 if none does.
    let level: Double
    /// The p-value at which one more result would have counted.
    let levelOfOneMore: Double

    init(_ pValues: [Double]) {
        let sorted = pValues.sorted()
        let share = Self.rate / Double(max(sorted.count, 1))
        let counting = sorted.indices.last { sorted[$0] <= share * Double($0 + 1) }.map { $0 + 1 } ?? 0
        level = share * Double(counting)
        levelOfOneMore = share * Double(min(counting + 1, max(sorted.count, 1)))
    }
}
