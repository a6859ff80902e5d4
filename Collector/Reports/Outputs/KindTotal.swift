import MartletStorage
import MartletTelemetry

/// The totals of the requests that were made, and of those that were served. A request between two watched services is in
/// both, so that their sum has no meaning.
struct KindTotal {
    /// `nil` if there are no requests.
    var kind: RequestKind?
    var measures: RequestMeasures

    /// - Parameter only: the one kind that the report was asked for.
    static func all(of report: Report, only: RequestKind?) -> [KindTotal] {
        let kinds = RequestKind.allCases.compactMap { kind in
            report.totalsByKind[kind].map { KindTotal(kind: kind, measures: $0.measures) }
        }
        return kinds.isEmpty ? [KindTotal(kind: only, measures: report.totals.measures)] : kinds
    }

    /// The kind as it is said of requests, at the beginning of a line.
    static func title(_ kind: RequestKind?) -> String {
        switch kind {
        case .client: "Made"
        case .server: "Served"
        case nil: "Made and served"
        }
    }

    var summary: String {
        let p95 = measures.latency.p95
        return FigureText.counted(measures.count, "request")
            + ", \(FigureText.percent(measures.failures.rate)) % failed"
            + (p95.isFinite ? ", p95 \(FigureText.figure(p95)) ms" : "")
            + measures.failures.notes.map { ", " + $0 }.joined()
    }
}

extension Report {
    /// Whether rows were left out.
    package var isCut: Bool { rows.count < rowCount }

    /// The number of shown rows and of all rows: `the first 14 of 40`. Rows that are worse come before others.
    package var shownOfAll: String {
        let (shown, all) = (FigureText.grouped(UInt64(rows.count)), FigureText.grouped(UInt64(rowCount)))
        return (compare?.worse ?? 0) > 0
            ? "the worse and the first others, \(shown) of \(all)" : "the first \(shown) of \(all)"
    }
}

extension ReportRow {
    var kind: RequestKind? { RequestKind(rawValue: text(of: .kind)) }
}
