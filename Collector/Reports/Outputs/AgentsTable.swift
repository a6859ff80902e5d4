/// The senders as text for a person.
package enum AgentsTable {
    package static func text(of report: AgentsReport, on device: OutputDevice = .file) -> String {
        guard !report.agents.isEmpty else { return "No agent has sent anything since \(report.from).\n" }
        var table = TextTable(
            ["service", "version", "instance", "host", "agent", "capture"].map {
                TextTable.Column(title: $0, isName: true)
            } + [TextTable.Column(title: "last seen")]
                + ["captured", "delivered", "waiting", "dropped", "missing batches"].map {
                    TextTable.Column(title: $0, alignment: .figure)
                })
        table.addTitles()
        for agent in report.agents {
            let names = [agent.service, agent.version, agent.instance, agent.host, agent.agent, agent.capture]
            let missing = agent.missingBatches.map(String.init) ?? ""
            let cells = names.map { $0 ?? "" } + [agent.lastSeen] + figures(of: agent.ledger) + [missing]
            table.add(cells.map { TextTable.Cell($0) })
        }
        return table.text(on: device) + notes(on: report)
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
        if let more = report.more {
            lines.append(
                "only the \(report.agents.count) instances that were seen most recently are shown, of "
                    + "\(report.agents.count + more) since \(report.from)\n")
        }
        return lines.isEmpty ? "" : "\n" + lines.joined()
    }
}
