import MartletStorage
import MartletTelemetry

/// The data from which the cells of a line are made.
struct ReportLine {
    var measures: RequestMeasures
    /// The requests over time (``TrendSlots``); `nil` if there are no trends.
    var trend: [Double]?
    /// The failed requests over time; `nil` if none failed.
    var failedTrend: [Double]?
    /// The seconds since its latest request.
    var age: UInt64?
    /// `nil` if the line is not compared.
    var verdict: Verdict?
}

/// A figure of a group of requests, as the table, CSV, Markdown and the page show it.
package struct ReportFigure: Sendable {
    /// The name in CSV.
    let key: String
    /// The title of the column, with the unit; empty if only CSV has the figure.
    package let title: String
    let rank: Rank?
    /// The order of rows by this figure.
    package let order: GroupOrder.Measure?
    /// The text in CSV, with all digits.
    let csv: @Sendable (RequestMeasures) -> String
    /// The text for a person, without a unit.
    package let text: @Sendable (RequestMeasures) -> String

    /// The title on the page. The name of a quantile keeps its small letter.
    package var heading: String { title.dropFirst().first?.isNumber == true ? title : title.capitalizedFirst }

    /// All figures, in the order of CSV, which is a fixed format. A table in a file has the same order.
    static let all: [ReportFigure] = [
        [count, perSecond, failed, failureRate], causes, [hung, cancelled], latency, phases,
        [sent, received, apdex, impact], partial,
    ].flatMap(\.self)
    /// The figures of an endpoint on the page.
    package static let onPage: [ReportFigure] = [[impact, count, failureRate], titledLatency, [hung]].flatMap(\.self)

    package static let count = number("count", "count", by: .count) { $0.count }
    static let perSecond = figure("per_second", "per s", .perSecond) { $0.perSecond }
    private static let failed = number("failures", "failed", by: .failures) { $0.failures.count }
    package static let failureRate = figure("failure_rate", "failed %", by: .failureRate, as: FigureText.percent) {
        $0.ofRequests($0.failures.rate)
    }
    private static let causes: [ReportFigure] = [
        number("transport") { $0.failures.transport }, number("http_4xx") { $0.failures.http4xx },
        number("http_5xx") { $0.failures.http5xx },
    ]
    package static let hung = number("hung", "hung") { $0.failures.hung }
    private static let cancelled = number("cancelled", "cancelled") { $0.failures.cancelled }
    private static let latency: [ReportFigure] = [
        figure("mean_ms") { $0.ofRequests($0.latency.mean) },
        figure("p50_ms", "p50 ms", .p50, by: .p50) { $0.ofRequests($0.latency.p50) },
        figure("p75_ms") { $0.ofRequests($0.latency.p75) },
        figure("p90_ms") { $0.ofRequests($0.latency.p90) },
        figure("p95_ms", "p95 ms", by: .p95) { $0.ofRequests($0.latency.p95) },
        figure("p99_ms", "p99 ms", .p99, by: .p99) { $0.ofRequests($0.latency.p99) },
        figure("max_ms", "max ms", .max, by: .max) { $0.ofRequests($0.latency.max) },
    ]
    package static let titledLatency: [ReportFigure] = latency.filter { !$0.title.isEmpty }
    static let phases: [ReportFigure] = RequestPhase.allCases.map { phase in
        figure(phase.rawValue + "_ms", phase.rawValue.replacing("_", with: " ") + " ms", Rank(phase)) {
            $0.phases[phase.rawValue] ?? .nan
        }
    }
    private static let sent = number("bytes_sent") { $0.bytes.sent }
    static let received = ReportFigure(
        key: "bytes_received", title: "received KiB", rank: .received, order: nil,
        csv: { String($0.bytes.received) }, text: { FigureText.figure(Double($0.bytes.received) / 1024) })
    static let apdex = figure("apdex", "apdex", .apdex, as: { FigureText.fixed($0, 2) }) { $0.ofRequests($0.apdex) }
    package static let impact = figure("impact", "impact %", .impact, by: .impact, as: FigureText.percent) { $0.impact }
    private static let partial: [ReportFigure] = [
        number("from_spans") { $0.fromSpans }, number("changed_by_rules") { $0.changedByRules },
    ]

    private static func number(
        _ key: String, _ title: String = "", by order: GroupOrder.Measure? = nil,
        _ value: @escaping @Sendable (RequestMeasures) -> UInt64?
    ) -> ReportFigure {
        ReportFigure(
            key: key, title: title, rank: nil, order: order, csv: { value($0).map { String($0) } ?? "" },
            text: { value($0).map(FigureText.grouped) ?? "" })
    }

    private static func figure(
        _ key: String, _ title: String = "", _ rank: Rank? = nil, by order: GroupOrder.Measure? = nil,
        as text: @escaping @Sendable (Double) -> String = FigureText.figure,
        _ value: @escaping @Sendable (RequestMeasures) -> Double
    ) -> ReportFigure {
        ReportFigure(
            key: key, title: title, rank: rank, order: order, csv: { CSVCell.number(value($0)) },
            text: { measures in
                let value = value(measures)
                return value.isNaN ? FigureText.figure(value) : text(value)
            })
    }

    /// The order in which a narrow terminal drops columns, the first one first (``TextTable/Column/rank``).
    enum Rank: Int {
        case received = -5
        case apdex, impact, failedTrend, max, notes, seen, p50, p99, trend, perSecond
        // Phases appear only on request. The time to the first byte is usually the longest, so its column is dropped last.
        case queue, transfer, dns, tls, connect
        // From ``TextTable/Column/lastRank`` on, columns are dropped after all names are cut.
        case bar = 100
        case firstByte

        init(_ phase: RequestPhase) {
            self =
                switch phase {
                case .queue: .queue
                case .dns: .dns
                case .connect: .connect
                case .tls: .tls
                case .firstByte: .firstByte
                case .transfer: .transfer
                }
        }
    }
}

/// A column of figures: its title, which includes the unit, and its cell for a line.
struct ReportColumn: Sendable {
    let column: TextTable.Column
    let cell: @Sendable (ReportLine) -> TextTable.Cell

    /// The columns of a table in a pipe or a file, the same for every report. A comparison adds the last one.
    static func piped(phases: Bool, isCompared: Bool) -> [ReportColumn] {
        let hidden = phases ? [] : ReportFigure.phases.map(\.key)
        return ReportFigure.all.filter { !$0.title.isEmpty && !hidden.contains($0.key) }.map { ReportColumn($0) }
            + (isCompared ? [.verdict] : [])
    }

    /// The columns for a terminal that is wide enough.
    ///
    /// - Parameters:
    ///   - phases: the phases that get a column, by their names.
    ///   - fullBar: the failure rate of a full bar.
    ///   - order: the order of the rows, which marks its column.
    static func terminal(phases: Set<String>, fullBar: Double, sortedBy order: GroupOrder.Measure?) -> [ReportColumn] {
        func columns(_ figures: [ReportFigure]) -> [ReportColumn] { figures.map { ReportColumn($0, sortedBy: order) } }
        let times =
            ReportFigure.titledLatency + ReportFigure.phases.filter { phases.contains(String($0.key.dropLast(3))) }
        return columns([.count, .perSecond]) + [.trend] + columns([.failureRate])
            + [.failureBar(full: fullBar), .failedTrend] + columns(times + [.received, .apdex, .impact])
            + [.seen, .notes]
    }

    private init(_ figure: ReportFigure, sortedBy order: GroupOrder.Measure? = nil) {
        let mark = order != nil && figure.order == order ? "↓" : ""
        self.init(figure.title + mark, figure.rank, .figure) { TextTable.Cell(figure.text($0.measures)) }
    }

    private init(
        _ title: String, _ rank: ReportFigure.Rank?, _ alignment: TextTable.Alignment = .left, gap: Int = 2,
        cell: @escaping @Sendable (ReportLine) -> TextTable.Cell
    ) {
        column = TextTable.Column(title: title, alignment: alignment, rank: rank?.rawValue, gap: gap)
        self.cell = cell
    }

    private static let trend = ReportColumn("trend", .trend) {
        TextTable.Cell($0.trend.map { Sparkline.text($0) } ?? "")
    }
    private static let failedTrend = ReportColumn("failures", .failedTrend) {
        TextTable.Cell($0.failedTrend.map { Sparkline.text($0) } ?? "", .red)
    }
    private static let seen = ReportColumn("seen", .seen, .figure) {
        TextTable.Cell($0.age.map { FigureText.age($0, isShort: true) } ?? "")
    }
    /// Requests that a terminal mentions only if there are any.
    private static let notes = ReportColumn("", .notes) {
        TextTable.Cell($0.measures.failures.notes.joined(separator: ", "), .yellow)
    }
    private static let verdict = ReportColumn("verdict", nil) {
        TextTable.Cell($0.verdict.map(VerdictText.word) ?? "")
    }

    private static func failureBar(full: Double) -> ReportColumn {
        ReportColumn("", .bar, gap: 1) { TextTable.Cell(ShareBar.text($0.measures.failures.rate, full: full), .red) }
    }
}

extension RequestMeasures.Failures {
    /// Rare counts that are mentioned only if they are not 0.
    var notes: [String] {
        [(hung, "hung"), (cancelled, "cancelled")].filter { $0.0 > 0 }.map { "\(FigureText.grouped($0)) \($1)" }
    }
}
