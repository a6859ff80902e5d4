import MartletStorage
import MartletTelemetry

/// The data behind the figures of a line.
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

/// A column of figures: its title, which includes the unit, and its cell for a line.
struct ReportColumn: Sendable {
    let column: TextTable.Column
    let cell: @Sendable (ReportLine) -> TextTable.Cell

    /// The columns of a table in a pipe or a file, the same for every report. A comparison adds the last one.
    static func piped(phases: Bool, isCompared: Bool) -> [ReportColumn] {
        [.count, .perSecond, .failed, .failureRate, .hung, .cancelled] + latency
            + (phases ? self.phases.map(\.column) : []) + [.received, .apdex, .impact] + (isCompared ? [.verdict] : [])
    }

    /// The columns for a terminal that is wide enough.
    ///
    /// - Parameters:
    ///   - phases: the phases that get a column, by their names.
    ///   - fullBar: the failure rate of a full bar.
    static func terminal(phases: Set<String>, fullBar: Double) -> [ReportColumn] {
        [.count, .perSecond, .trend, .failureRate, .failureBar(full: fullBar), .failedTrend] + latency
            + self.phases.filter { phases.contains($0.phase) }.map(\.column) + [
                .received, .apdex, .impact, .seen, .notes,
            ]
    }

    /// Returns the column, marked if the rows are sorted by its figure.
    func marked(_ order: GroupOrder.Measure?) -> ReportColumn {
        guard let order, column.title == Self.title(of: order) else { return self }
        var column = column
        column.title += "↓"
        return ReportColumn(column: column, cell: cell)
    }

    private static func title(of order: GroupOrder.Measure) -> String {
        switch order {
        case .impact: "impact %"
        case .count: "count"
        case .failures: "failed"
        case .failureRate: "failed %"
        case .p50, .p95, .p99, .max: "\(order.rawValue) ms"
        }
    }

    private static let count = figure("count") { FigureText.grouped($0.count) }
    private static let perSecond = figure("per s", .perSecond) { FigureText.figure($0.perSecond) }
    private static let failed = figure("failed") { FigureText.grouped($0.failures.count) }
    private static let failureRate = figure("failed %") {
        $0.count > 0 ? FigureText.percent($0.failures.rate) : FigureText.figure(.nan)
    }
    private static let hung = figure("hung") { FigureText.grouped($0.failures.hung) }
    private static let cancelled = figure("cancelled") { FigureText.grouped($0.failures.cancelled) }
    private static let latency = [
        figure("p50 ms", .p50) { FigureText.figure($0.ofRequests($0.latency.p50)) },
        figure("p95 ms") { FigureText.figure($0.ofRequests($0.latency.p95)) },
        figure("p99 ms", .p99) { FigureText.figure($0.ofRequests($0.latency.p99)) },
        figure("max ms", .max) { FigureText.figure($0.ofRequests($0.latency.max)) },
    ]
    private static let phases = RequestPhase.allCases.map { phase in
        let column = figure(phase.rawValue.replacing("_", with: " ") + " ms", Rank(phase)) {
            FigureText.figure($0.phases[phase.rawValue] ?? .nan)
        }
        return (phase: phase.rawValue, column: column)
    }
    static let phaseTitles = phases.map(\.column.column.title)
    private static let received = figure("received KiB", .received) {
        FigureText.figure(Double($0.bytes.received) / 1024)
    }
    private static let apdex = figure("apdex", .apdex) {
        $0.count > 0 ? FigureText.fixed($0.apdex, 2) : FigureText.figure(.nan)
    }
    private static let impact = figure("impact %", .impact) { FigureText.percent($0.impact) }

    private static let trend = ReportColumn(column: TextTable.Column(title: "trend", rank: Rank.trend.rawValue)) {
        TextTable.Cell($0.trend.map { Sparkline.text($0) } ?? "")
    }
    private static let failedTrend = ReportColumn(
        column: TextTable.Column(title: "failures", rank: Rank.failedTrend.rawValue)
    ) {
        TextTable.Cell($0.failedTrend.map { Sparkline.text($0) } ?? "", .red)
    }
    private static let seen = ReportColumn(
        column: TextTable.Column(title: "seen", alignment: .figure, rank: Rank.seen.rawValue)
    ) {
        TextTable.Cell($0.age.map { FigureText.age($0, isShort: true) } ?? "")
    }
    /// Requests that a terminal mentions only if there are any.
    private static let notes = ReportColumn(column: TextTable.Column(title: "", rank: Rank.notes.rawValue)) {
        TextTable.Cell($0.measures.failures.notes.joined(separator: ", "), .yellow)
    }

    private static let verdict = ReportColumn(column: TextTable.Column(title: "verdict")) {
        TextTable.Cell($0.verdict.map(VerdictText.word) ?? "")
    }

    private static func failureBar(full: Double) -> ReportColumn {
        ReportColumn(column: TextTable.Column(title: "", rank: Rank.bar.rawValue, gap: 1)) {
            TextTable.Cell(ShareBar.text($0.measures.failures.rate, full: full), .red)
        }
    }

    private static func figure(
        _ title: String, _ rank: Rank? = nil, _ text: @escaping @Sendable (RequestMeasures) -> String
    ) -> ReportColumn {
        ReportColumn(column: TextTable.Column(title: title, alignment: .figure, rank: rank?.rawValue)) {
            TextTable.Cell(text($0.measures))
        }
    }

    /// The order in which a narrow terminal drops columns, the first one first (``TextTable/Column/rank``).
    private enum Rank: Int {
        case received = -5
        case apdex, impact, failedTrend, max, notes, seen, p50, p99, trend, perSecond
        // Phases appear only on request. The time to the first byte is usually the longest.
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

extension RequestMeasures.Failures {
    /// Rare counts that are mentioned only if they are not 0.
    var notes: [String] {
        [(hung, "hung"), (cancelled, "cancelled")].filter { $0.0 > 0 }.map { "\(FigureText.grouped($0)) \($1)" }
    }
}
