/// Tells which rows of a report have changed from one window to another by more than they vary by themselves. Pure.
///
/// docs/comparison.md explains the steps to a reader of the verdicts, and has their measured error rates.
package enum Comparison {
    /// The requests that a row needs in each window.
    package static let minRequests: UInt64 = 30
    /// The blocks with requests that a row needs in each window.
    package static let minBlocks = 6

    /// Returns a verdict for each row, in order.
    ///
    /// Of the changes of failures that are found, one in a hundred is false on average, and so of those of durations. The two
    /// are different questions, and many tests of the one must not make the other harder to answer.
    ///
    /// - Parameter rows: all rows of a report, and not those alone that look changed. They are judged together, because among
    ///   many rows some look changed by chance.
    package static func verdicts(of rows: [ComparedRow]) -> [Verdict] {
        let evidence = rows.map(Evidence.init)
        let tests = evidence.compactMap(\.tests)
        let failures = FalseDiscoveryRate(tests.compactMap(\.failures.pValue))
        let durations = FalseDiscoveryRate(tests.flatMap(\.durationPValues))
        let found = RowTests.Levels(failures: failures.level, durations: durations.level)
        let missed = RowTests.Levels(failures: failures.levelOfOneMore, durations: durations.levelOfOneMore)
        return evidence.map { $0.verdict(found: found, missed: missed) }
    }
}

private enum Evidence {
    case tests(RowTests)
    case shortage(Verdict.Shortage)

    init(_ row: ComparedRow) {
        self = Verdict.Shortage(row).map(Self.shortage) ?? .tests(RowTests(row))
    }

    var tests: RowTests? {
        guard case .tests(let tests) = self else { return nil }
        return tests
    }

    /// - Parameters:
    ///   - found: the levels up to which results count.
    ///   - missed: the levels up to which one more result would have counted.
    func verdict(found: RowTests.Levels, missed: RowTests.Levels) -> Verdict {
        switch self {
        case .tests(let tests):
            Verdict(tests.changes(found)) ?? .noChangeFound(wouldHaveSeen: tests.smallestChange(missed))
        case .shortage(let shortage): .tooLittleData(shortage)
        }
    }
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
