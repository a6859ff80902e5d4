/// The figure that rows are sorted by. The raw value is the name on the command line and in a query.
package enum ReportSort: String, Sendable, CaseIterable {
    case impact
    case count
    case failures
    case failureRate = "failure-rate"
    case p50
    case p95
    case p99
    case max

    func value(of row: ReportRow) -> Double {
        switch self {
        case .impact: row.measures.impact
        case .count: Double(row.measures.count)
        case .failures: Double(row.measures.failures.count)
        case .failureRate: row.measures.failures.rate
        case .p50: row.measures.latency.p50
        case .p95: row.measures.latency.p95
        case .p99: row.measures.latency.p99
        case .max: row.measures.latency.max
        }
    }
}
