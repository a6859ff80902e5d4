/// The edges of the map as text for a person.
package struct MapTable {
    private let report: MapReport
    private let context: ReportContext
    private let device: OutputDevice

    /// Returns text that ends with a line break.
    package static func text(
        of report: MapReport, _ context: ReportContext = ReportContext(), on device: OutputDevice = .file
    ) -> String {
        let table = MapTable(report, context, device)
        let heading = table.heading.map { $0 + "\n" }.joined()
        guard !report.edges.isEmpty else { return heading + NoResultsText.sentence(of: report, context, for: "map") }
        let notes = table.notes.map { $0 + "\n" }.joined()
        return heading + "\n" + table.rows + "\n" + (notes.isEmpty ? "" : notes + "\n") + table.next
    }

    private init(_ report: MapReport, _ context: ReportContext, _ device: OutputDevice) {
        (self.report, self.context, self.device) = (report, context, device)
    }

    /// The lines above the table.
    private var heading: [String] {
        let answer = report.edges.isEmpty ? nil : TerminalText.plain(report.sentence) + "."
        var lines = HeadingLine(report: report, context: context, device: device).lines(answer) + report.gaps
        if report.edges.count < report.edgeCount {
            lines.append(
                "\(FigureText.grouped(UInt64(report.edges.count))) of \(FigureText.counted(report.edgeCount, "edge")): "
                    + "first those with lost requests, then those with the most requests")
        }
        return lines
    }

    // MARK: The edges

    private var rows: String {
        var table = TextTable(Self.columns)
        table.addTitles()
        for edge in report.edges { table.add(Self.cells(of: edge).map { TextTable.Cell($0.text, $0.tone) }) }
        return table.text(on: device)
    }

    /// The columns. The figures of a side follow its count.
    private static let columns = [
        TextTable.Column(title: "caller", isName: true), TextTable.Column(title: "callee", isName: true),
        TextTable.Column(title: "host", isName: true, rank: Rank.host.rawValue), figure("sent"), figure("failed %"),
        figure("p95 ms", .sentP95), figure("lost"), figure("unanswered", .unanswered), figure("arrived"),
        figure("failed %", .arrivedFailed), figure("p95 ms", .arrivedP95), figure("uncounted", .uncounted),
    ]

    private static func figure(_ title: String, _ rank: Rank? = nil) -> TextTable.Column {
        TextTable.Column(title: title, alignment: .figure, rank: rank?.rawValue)
    }

    /// The order in which a narrow terminal drops columns, the first one first (``TextTable/Column/rank``).
    private enum Rank: Int {
        case unanswered = -3
        case uncounted, host, arrivedP95, sentP95, arrivedFailed
    }

    /// Returns a cell for each column. An unknown figure is a dash.
    private static func cells(of edge: CallEdge) -> [(text: String, tone: Tone?)] {
        let names = [edge.caller.name, edge.callee.name, HostName.text(edge.host, system: edge.system)]
        return names.map { ($0, nil) } + side(edge.sent) + [count(edge.lost, .red), count(edge.unanswered)]
            + side(edge.arrived) + [count(edge.uncounted, .yellow)]
    }

    private static func side(_ figures: CallFigures?) -> [(text: String, tone: Tone?)] {
        guard let figures else { return Array(repeating: ("–", nil), count: 3) }
        let rate = figures.failures.rate
        return [
            count(figures.count), (FigureText.percent(rate), rate >= CallEdge.failing ? .red : nil),
            (FigureText.figure(figures.latency.p95), nil),
        ]
    }

    /// - Parameter tone: the tone of a count above 0.
    private static func count(_ count: UInt64?, _ tone: Tone? = nil) -> (text: String, tone: Tone?) {
        guard let count else { return ("–", nil) }
        return (FigureText.grouped(count), count > 0 ? tone : nil)
    }

    // MARK: Notes

    /// The most notes that are written out.
    private static let maxNotes = 20

    /// Facts about edges that are rare and too long for a column.
    private var notes: [String] {
        var (notes, told) = ([String](), Set<String>())
        for note in report.edges.flatMap(Self.notes) where told.insert(note).inserted {
            notes.append(TerminalText.plain(note))
        }
        let more = notes.dropFirst(Self.maxNotes).count
        guard more > 0 else { return notes }
        return notes.prefix(Self.maxNotes) + ["\(FigureText.counted(more, "more note")); JSON has all figures"]
    }

    private static func notes(on edge: CallEdge) -> [String] {
        var notes: [String] = []
        let host = HostName.text(edge.host, system: edge.system)
        if let errors = edge.lostErrors {
            notes.append("\(edge.caller.name) could not connect to \(host): \(errors.joined(separator: ", "))")
        }
        if edge.comesFromSpans {
            let served = edge.otherHosts.map { " as \($0)" } ?? ""
            notes.append("\(edge.callee.name) serves requests to \(host)\(served), according to spans")
        }
        if edge.isShared, let edges = edge.sharedBy, let sent = edge.sentByAll, let arrived = edge.arrived {
            notes.append(
                "\(edge.callee.name) counts \(FigureText.counted(edges, "edge")) together: \(FigureText.grouped(sent)) sent, "
                    + "\(FigureText.grouped(arrived.count)) arrived")
        }
        if let others = edge.fromOutside, others > 0 {
            notes.append(
                "\(edge.callee.name) received \(FigureText.counted(others, "request")) that none of its known callers counted; "
                    + "other callers have no agent, or counts are missing")
        }
        if let uncounted = edge.uncounted, uncounted > 0 {
            notes.append(
                "\(edge.callee.name) did not count \(FigureText.counted(uncounted, "request")) that \(edge.caller.name) "
                    + "got an answer to; a proxy answered, a process has no agent, or counts are missing")
        }
        return notes
    }

    // MARK: The next step

    /// The command that shows the lost requests. If none was lost, it shows the requests of the edge with the most failures.
    private var next: String {
        guard let edge = report.worst ?? mostFailed else { return "" }
        let source = NextCommand.ofSource(context.flags)
        var flags = context.flags.filter { !["service", "top"].contains($0.name) && !source.contains($0) }
        flags += edge.requests(edge.systemFilter(report.hostsOfSystems)).map { CommandFlag($0.name.rawValue, $0.value) }
        if edge.lostErrors == nil { flags.append(CommandFlag("failed")) }
        return device.paint("See them:", .dim) + "  " + CommandText.text("requests", flags + source) + "\n"
    }

    private var mostFailed: CallEdge? {
        let most = report.edges.max { $0.failureCount < $1.failureCount }
        return most.flatMap { $0.failureCount > 0 ? $0 : nil }
    }
}

extension CallEdge {
    fileprivate var failureCount: UInt64 { (sent ?? arrived)?.failures.count ?? 0 }

    /// The filters for its lost requests. If none was lost, the filters for all that the caller sent or, without a caller, the
    /// callee served.
    ///
    /// - Parameter system: the filter by system; `nil` for none.
    fileprivate func requests(_ system: String?) -> [(name: RequestsParameter, value: String)] {
        let isSent = sent != nil
        let ofSystem = system.map { [(RequestsParameter.system, $0)] } ?? []
        let service = (isSent ? caller : callee).service.map { [(RequestsParameter.service, $0)] } ?? []
        return service + [(.kind, isSent ? "client" : "server"), (.host, host)] + ofSystem
            + (lostErrors ?? []).map { (.error, $0) }
    }
}
