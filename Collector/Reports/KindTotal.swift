import MartletStorage
import MartletTelemetry

/// The totals of the requests that were made, and of those that were served. A request between two watched services is in
/// both, so that their sum has no meaning.
struct KindTotal {
    /// `nil` if the figures may be of both kinds.
    var kind: RequestKind?
    var measures: RequestMeasures

    /// - Parameter only: the one kind that the report was asked for.
    static func all(of report: Report, only: RequestKind?) -> [KindTotal] {
        let mixed = KindTotal(kind: only, measures: report.totals.measures)
        guard only == nil, report.by.contains(.kind), !report.isCut else { return [mixed] }
        let kinds = RequestKind.allCases.filter { kind in report.rows.contains { $0.kind == kind } }
        guard kinds.count > 1 else { return [KindTotal(kind: kinds.first, measures: report.totals.measures)] }
        return kinds.map { kind in
            KindTotal(kind: kind, measures: RequestMeasures(addingUp: report.rows.filter { $0.kind == kind }))
        }
    }

    /// The kind as it is said of requests, at the beginning of a line.
    static func title(_ kind: RequestKind?) -> String {
        switch kind {
        case .client: "Made"
        case .server: "Served"
        case nil: "Made and served"
        }
    }

    static func requests(_ count: UInt64) -> String {
        "\(FigureText.grouped(count)) \(count == 1 ? "request" : "requests")"
    }

    var summary: String {
        let p95 = measures.latency.p95
        return Self.requests(measures.count) + ", \(FigureText.percent(measures.failures.rate)) % failed"
            + (p95.isFinite ? ", p95 \(FigureText.figure(p95)) ms" : "")
            + measures.failures.notes.map { ", " + $0 }.joined()
    }
}

extension Report {
    /// Whether rows were left out.
    var isCut: Bool { rows.reduce(0) { $0 &+ $1.measures.count } != totals.measures.count }
}

extension ReportRow {
    var kind: RequestKind? { RequestKind(rawValue: text(of: .kind)) }
}

extension RequestMeasures {
    /// The sums of rows. Quantiles do not add up, and neither do means of phases without their counts: they are not known.
    fileprivate init(addingUp rows: [ReportRow]) {
        let all = rows.map(\.measures)
        func sum(_ value: (RequestMeasures) -> UInt64) -> UInt64 { all.reduce(0) { $0 &+ value($1) } }
        let count = sum(\.count)
        func mean(_ value: (RequestMeasures) -> Double) -> Double {
            all.reduce(0) { $0 + value($1) * Double($1.count) / Double(max(1, count)) }
        }
        self.init(
            count: count, perSecond: all.reduce(0) { $0 + $1.perSecond },
            failures: Failures(
                count: sum(\.failures.count), rate: mean(\.failures.rate), transport: sum(\.failures.transport),
                http4xx: sum(\.failures.http4xx), http5xx: sum(\.failures.http5xx), hung: sum(\.failures.hung),
                cancelled: sum(\.failures.cancelled)),
            latency: Latency(
                mean: mean(\.latency.mean), p50: .nan, p75: .nan, p90: .nan, p95: .nan, p99: .nan,
                max: all.reduce(0) { max($0, $1.latency.max) }),
            phases: [:], bytes: Bytes(sent: sum(\.bytes.sent), received: sum(\.bytes.received)), apdex: mean(\.apdex),
            impact: all.reduce(0) { $0 + $1.impact })
    }
}
