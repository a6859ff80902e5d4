import MartletStorage

/// The name of a flag of a report.
package enum ReportParameter: String, ParameterName {
    case since, until, service, kind, host, endpoint, status, error, by, sort, ascending, top

    package static let repeatable: Self? = .by
    package static let defaultSince = "1h"
    package static let defaultBy: [Dimension] = [.service, .kind, .method, .host, .endpoint]
    /// Days of a report's window at most: twice as many as hours are kept by default. The cost of a report grows with the
    /// data in its window.
    static let longestDays: UInt64 = 800
}
