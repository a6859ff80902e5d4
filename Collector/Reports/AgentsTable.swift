/// The senders for human eyes.
package enum AgentsTable {
    package static func text(of report: AgentsReport) -> String {
        guard !report.agents.isEmpty else { return "No agent has sent anything yet.\n" }
        var table = TextTable(
            ["service", "version", "instance", "host", "agent", "capture", "last seen"].map { ($0, .left) }
                + ["captured", "delivered", "waiting", "dropped"].map { ($0, .right) })
        for agent in report.agents {
            let names = [agent.service, agent.version, agent.instance, agent.host, agent.agent, agent.capture]
            table.add(names.map { $0 ?? "" } + [agent.lastSeen] + figures(of: agent.ledger))
        }
        return table.text + reasons(of: report)
    }

    /// A line below the table for each sender that captures otherwise than it was asked to: too long for a column.
    private static func reasons(of report: AgentsReport) -> String {
        let lines = report.agents.compactMap { agent in
            agent.captureReason.map {
                "\(agent.service) \(agent.instance): capture is \(agent.capture ?? "off"), \($0)"
            }
        }
        return lines.isEmpty ? "" : "\n" + lines.map { TerminalText.plain($0) + "\n" }.joined()
    }

    private static func figures(of ledger: AgentsReport.Account?) -> [String] {
        guard let ledger else { return ["", "", "", ""] }
        let dropped = ledger.dropped.values.reduce(0, &+)
        return [ledger.captured, ledger.delivered, ledger.waiting, dropped].map(String.init)
    }
}
