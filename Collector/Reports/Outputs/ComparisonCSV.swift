/// The columns of CSV that a comparison adds at the end. The names and their order are a fixed format.
enum ComparisonCSV {
    static let names = [
        "before_from", "before_to", "before_completeness", "before_count", "before_failure_rate", "before_p50_ms",
        "before_p95_ms", "before_p99_ms", "verdict", "cliffs_delta", "would_have_seen_failures", "would_have_seen_p95",
    ]

    static func cells(of row: ReportRow, _ comparison: ReportComparison) -> [String] {
        window(comparison) + before(row.before) + verdict(row.verdict)
    }

    private static func window(_ comparison: ReportComparison) -> [String] {
        [CSVCell.text(comparison.from), CSVCell.text(comparison.to), CSVCell.number(comparison.completeness)]
    }

    private static func before(_ measures: RequestMeasures?) -> [String] {
        [
            "\(measures?.count ?? 0)", CSVCell.number(measures?.failures.rate), CSVCell.number(measures?.latency.p50),
            CSVCell.number(measures?.latency.p95), CSVCell.number(measures?.latency.p99),
        ]
    }

    private static func verdict(_ verdict: Verdict?) -> [String] {
        switch verdict {
        case .worse(let changes)?: ["worse", CSVCell.number(changes.cliffsDelta), "", ""]
        case .better(let changes)?: ["better", CSVCell.number(changes.cliffsDelta), "", ""]
        case .noChangeFound(let seen)?: ["same", "", CSVCell.number(seen.failures), CSVCell.number(seen.p95)]
        case .tooLittleData?: ["too_little_data", "", "", ""]
        case nil: ["", "", "", ""]
        }
    }
}
