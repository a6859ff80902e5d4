import MartletStorage

/// A question that the screen of `top` has to be answered for.
package enum TopQuestion: Sendable, Equatable {
    case report(GroupOrder.Measure)
    /// The kept requests of a row.
    case requests(of: [Dimension: String?], onlyFailed: Bool)
}

/// An answer to a ``TopQuestion``.
package enum TopAnswer: Sendable {
    /// A report, and the facts that explain it if it has no rows.
    case report(Report, ReportContext)
    case requests(RequestsReport)
}
