import MartletReports
import MartletStorage
import MartletTelemetry

/// The senders of a window, or of the last day if the window is shorter. They show whether the figures can be trusted.
package struct AgentList: Sendable {
    private static let day: UInt64 = 86_400_000_000_000
    /// A sender that sends nothing for this long counts as silent. Agents send every ten seconds.
    static let silence: UInt64 = 60_000_000_000

    let pageRequest: PageRequest
    let facts: FrameData
    /// The senders that the filter selects.
    let report: AgentsReport
    /// The value of `--since` for the same list in a terminal; `nil` for the command's default.
    let since: String?
    /// The number of senders not seen in the last minute.
    let silent: Int
    /// The sum of all ledgers; `nil` if no sender keeps one.
    let total: AgentsReport.Account?

    /// - Throws: ``ParameterError``, or the store's error.
    package init(_ pageRequest: PageRequest, in storage: some Storage) async throws {
        try pageRequest.refuseFilters(except: AgentsParameter.filters, of: "the list of agents")
        self.pageRequest = pageRequest
        facts = try await FrameData(pageRequest, in: storage)
        let yesterday = pageRequest.now - min(pageRequest.now, Self.day)
        since = pageRequest.window.from < yesterday ? pageRequest.parameters[.since] : nil
        let start = min(pageRequest.window.from, yesterday)
        report = try await storage.agentsReport(since: start, pageRequest.filter, now: pageRequest.now)
        silent = report.agents.count { $0.isSilent(at: pageRequest.now) }
        total = AgentsReport.Account.sum(of: report.agents.compactMap(\.ledger))
    }

    /// The senders that need attention.
    var remarkable: [AgentsReport.Agent] { report.agents.filter { !$0.notes.isEmpty } }

    var sentence: String {
        let count = report.agents.count
        switch (count, silent) {
        case (0, _): return "No agents have reported yet"
        case (1, 0): return "The agent reported in the last minute"
        case (_, 0): return "All \(count) agents reported in the last minute"
        case (1, _): return "The agent has been silent for more than a minute"
        case (silent, _): return "All \(count) agents have been silent for more than a minute"
        default:
            return "\(silent) of \(count) agents \(silent == 1 ? "has" : "have") been silent for more than a minute"
        }
    }
}

extension AgentList {
    /// The maximum number of senders in the notice. The table has the facts of all.
    private static let maxNoted = 10

    package var html: HTML {
        let title = pageRequest.titleOfScope(in: PageRequest.title(since: since ?? AgentsParameter.defaultSince))
        return PageFrame(pageRequest: pageRequest, facts: facts).document("Agents: \(title)", view: .agents) {
            element("section", .class("lead-in"), .label("The answer")) {
                element("h1") { sentence }
                element("p") { explanation }
            }
            equation
            notice
            busyWaits
            if !report.agents.isEmpty { AgentsGrid(list: self).html }
            commandLine
        }
    }

    private var explanation: String {
        let start = TimeText.inSeconds(report.from).dropLast().split(separator: "T").joined(separator: ", ")
        guard !report.agents.isEmpty else {
            return
                "Nothing has arrived since \(start)\(pageRequest.filter.wanted.isEmpty ? "" : " from the chosen senders")."
        }
        let ended = silent > 0 ? " An agent is also silent when its process has ended." : ""
        let ledgers = report.agents.count { $0.ledger != nil }
        let known =
            switch ledgers {
            case report.agents.count: "Each agent keeps a ledger, so missing requests are counted."
            case 0: "None of them keeps a ledger, so missing requests are not counted."
            default:
                "\(ledgers) of \(report.agents.count) keep a ledger; missing requests of the others are not counted."
            }
        return "Seen since \(start). \(known)\(ended)"
    }

    @HTMLBuilder private var equation: HTML {
        if let total {
            element("section", Attribute("aria-labelledby", "h-sum")) {
                element("h2", .id("h-sum"), .class("vh")) { "Ledger of all agents, in requests" }
                element("dl", .class("equation")) {
                    term("captured", total.captured)
                    sign("=")
                    term("delivered", total.delivered, key: "l-ok")
                    sign("+")
                    term("waiting", total.waiting, key: "l-wait")
                    sign("+")
                    term("dropped", total.droppedCount, key: "l-drop")
                    element("div", .class("grow")) {
                        element("dt") { share(total) }
                        element("dd") { LedgerBar.html(total) }
                    }
                }
            }
        }
    }

    private func share(_ total: AgentsReport.Account) -> String {
        guard let share = total.arrivedShare else { return "" }
        return (share < 1 ? FigureText.completeness(share) : "100 %") + " has arrived"
    }

    private func term(_ name: String, _ count: UInt64, key: String? = nil) -> HTML {
        element("div") {
            element("dt") {
                if let key { LedgerBar.key(key) }
                name
            }
            element("dd") { FigureText.grouped(count) }
        }
    }

    private func sign(_ text: String) -> HTML { element("span", .hidden) { text } }

    @HTMLBuilder private var busyWaits: HTML {
        if let waits = report.busyWaits {
            element("aside", .class("notice warn"), Attribute("aria-labelledby", "n-busy")) {
                element("h2", .id("n-busy")) {
                    Icon.part.html
                    "CPU time may be spent on waiting"
                }
                for wait in waits.prefix(Self.maxNoted) {
                    element("p") {
                        element("b") { pageRequest.service(wait.service) }
                        ": \(wait.sentence). " + wait.advice.capitalizedFirst + "."
                    }
                }
            }
        }
    }

    @HTMLBuilder private var notice: HTML {
        let agents = remarkable
        if let first = agents.first {
            element("aside", .class("notice warn"), Attribute("aria-labelledby", "n-agents")) {
                element("h2", .id("n-agents")) {
                    Icon.part.html
                    agents.count == 1 ? "\(first.name) needs attention" : "\(agents.count) agents need attention"
                }
                for agent in agents.prefix(Self.maxNoted) {
                    element("p") {
                        element("b") { agent.name }
                        " " + agent.notes.joined(separator: "; ") + "."
                    }
                }
                if agents.count > Self.maxNoted { element("p") { "And \(agents.count - Self.maxNoted) more." } }
            }
        }
    }

    private var commandLine: HTML {
        var parameters = pageRequest.parameters(for: AgentsParameter.self, leavingOut: [.since])
        parameters.add(.since, since)
        return CommandLine(
            pageRequest, "agents", parameters.commandFlags,
            formats: [("JSON", PageAddress("/api/v1/agents", parameters.query))]
        ).html
    }
}

extension AgentsReport.Agent {
    /// Whether nothing came from the sender for a minute.
    func isSilent(at now: UnixNanoseconds) -> Bool {
        let time = TimeText.parse(lastSeen, now: 0) ?? now
        return now > time && now - time > AgentList.silence
    }

    /// The instance; without one, the service.
    var name: String { instance.isEmpty ? service : instance }
}
