import MartletTelemetry

/// The table of senders for a person to read.
package enum AgentsTable {
    /// - Parameter now: the time at which the text is read, to show how long ago senders were last seen; `nil` writes times in
    ///   full.
    package static func text(
        of report: AgentsReport, now: UnixNanoseconds? = nil, on device: OutputDevice = .file
    ) -> String {
        guard !report.agents.isEmpty else { return nothing(in: report) }
        var table = TextTable(columns)
        table.addTitles()
        for agent in report.agents {
            let names = [agent.service, agent.version, agent.instance, agent.host, agent.agent, agent.capture]
            let missing = agent.missingBatches.map(String.init) ?? ""
            let cells =
                names.map { $0 ?? "" } + [seen(agent, now: now)] + figures(of: agent.process)
                + figures(of: agent.ledger) + [missing]
            table.add(cells.map { TextTable.Cell($0) })
        }
        return table.text(on: device) + notes(on: report)
    }

    /// Returns why there are no senders, and a command that lists the latest one if there is any.
    ///
    /// - Parameters:
    ///   - filters: the given filters.
    ///   - source: the flags that name the collector or store.
    package static func nothing(
        in report: AgentsReport, _ filters: [CommandFlag] = [], of source: [CommandFlag] = []
    ) -> String {
        if report.empty == .nobodyReported { return NoResultsText.nobody(source) }
        if case .unknownName(let name) = report.empty { return name.sentence + ".\n" }
        let chosen = filters.isEmpty ? "" : " of \(CommandFlag.text(filters))"
        let nothing = "No agent\(chosen) has sent anything since \(TimeText.inSeconds(report.from))."
        guard case .silent(let sender, _) = report.empty else { return nothing + "\n" }
        let latest = TimeText.format(sender.lastSeen)
        let flags = [CommandFlag(AgentsParameter.since.rawValue, latest)] + filters + source
        return "\(nothing) The latest data came at \(latest), from \(NoResultsText.name(sender)):\n  "
            + CommandText.text("agents", flags) + "\n"
    }

    private static var columns: [TextTable.Column] {
        [
            name("service"), name("version", .version), name("instance"), name("host", .host), name("agent", .agent),
            name("capture", .capture), TextTable.Column(title: "last seen"),
            TextTable.Column(title: "up", rank: Rank.uptime.rawValue),
            figure("cpu %", .cpu),
            figure("memory", .memory), figure("threads", .threads), figure("files", .files), figure("captured"),
            figure("delivered", .delivered), figure("waiting", .waiting), figure("dropped"),
            figure("missing batches", .missingBatches),
        ]
    }

    private static func name(_ title: String, _ rank: Rank? = nil) -> TextTable.Column {
        TextTable.Column(title: title, isName: true, rank: rank?.rawValue)
    }

    private static func figure(_ title: String, _ rank: Rank? = nil) -> TextTable.Column {
        TextTable.Column(title: title, alignment: .figure, rank: rank?.rawValue)
    }

    /// The order in which a narrow terminal drops columns, the first one first. Columns below 0 make room for long names. Notes
    /// below the table report what is unusual about capture.
    private enum Rank: Int {
        case uptime = -5
        case files, threads, agent, host, delivered, waiting, missingBatches, version, memory, cpu, capture
    }

    private static func seen(_ agent: AgentsReport.Agent, now: UnixNanoseconds?) -> String {
        guard let now, let seen = TimeText.parse(agent.lastSeen, now: now) else { return agent.lastSeen }
        return FigureText.age((max(now, seen) - seen) / 1_000_000_000) + " ago"
    }

    private static func figures(of process: ProcessMeasures?) -> [String] {
        [
            process?.uptime.map { FigureText.age(UInt64($0), isShort: true) },
            process?.cores.map { FigureText.fixed($0 * 100, 1) }, process?.memory.map(FigureText.bytes),
            process?.threads.map { FigureText.fixed($0, 0) }, process?.descriptors.map { FigureText.fixed($0, 0) },
        ].map { $0 ?? "" }
    }

    private static func figures(of ledger: AgentsReport.Account?) -> [String] {
        guard let ledger else { return ["", "", "", ""] }
        let dropped = ledger.dropped.values.reduce(0, &+)
        return [ledger.captured, ledger.delivered, ledger.waiting, dropped].map(String.init)
    }

    /// Returns lines below the table for facts that are rare and too long for a column.
    private static func notes(on report: AgentsReport) -> String {
        var lines = report.agents.flatMap { agent in
            agent.notes.map { TerminalText.plain("\(agent.service) \(agent.instance): \($0)") + "\n" }
        }
        lines += (report.busyWaits ?? []).map {
            TerminalText.plain("\($0.service): \($0.sentence); \($0.advice)") + "\n"
        }
        if let more = report.more {
            lines.append(
                "only the \(report.agents.count) instances that were seen most recently are shown, of "
                    + "\(report.agents.count + more) since \(TimeText.inSeconds(report.from))\n")
        }
        return lines.isEmpty ? "" : "\n" + lines.joined()
    }
}
