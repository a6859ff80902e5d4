import MartletReports
import MartletTelemetry

/// The table of senders with their ledgers.
struct AgentsGrid {
    let list: AgentList
    private var pageRequest: PageRequest { list.pageRequest }
    private var report: AgentsReport { list.report }

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-agents")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-agents")) {
                    "Instances "
                    element("span", .class("count")) { String(report.agents.count) }
                }
                element("p", .class("aside")) { "The ledger columns count requests since the start of each process." }
            }
            DataTable.html("grid cards agents", heading: "h-agents") {
                DataTable.head { titles }
                DataTable.body { for agent in report.agents { row(agent) } }
                if let total = list.total { DataTable.foot { foot(total) } }
            }
            if let more = report.more {
                element("p", .class("hint")) {
                    "The \(AgentsReport.maxAgents) instances that were seen most recently; \(more) more are not shown."
                }
            }
        }
    }

    private var titles: HTML {
        HTML.joined(
            [DataTable.title("first", "Instance"), DataTable.title("", "Capture"), DataTable.title("num", "Process")]
                + ["Captured", "Delivered", "Waiting", "Dropped", "Arrived", "Gaps", "Capture off", "First seen"]
                .enumerated().map { DataTable.title($0.offset == 0 ? "num lead" : "num", $0.element) }
                + [DataTable.title("num", "Last seen"), DataTable.title("num", "Clock")])
    }

    private func row(_ agent: AgentsReport.Agent) -> HTML {
        DataTable.row {
            name(agent)
            capture(agent)
            process(agent.process)
            ledger(agent.ledger)
            DataTable.cell("gaps", "num") {
                agent.missingBatches.map(warned) ?? unknown
            }
            DataTable.cell("capture off", "num") {
                if let seconds = agent.unwatchedSeconds {
                    element("span", .class("warntext")) { FigureText.seconds(seconds) }
                } else {
                    agent.ledger == nil ? unknown : none
                }
            }
            DataTable.cell("first seen", "num") { Figure.age(of: agent.firstSeen, at: pageRequest.now) }
            lastSeen(agent)
            clockCell(agent.clock)
        }
    }

    private func name(_ agent: AgentsReport.Agent) -> HTML {
        DataTable.name {
            element("span", .class("tpl")) { agent.name }
            element("span", .class("sub")) {
                pageRequest.service(agent.service)
                (agent.version.map { " \($0)" } ?? "") + (agent.environment.map { ", \($0)" } ?? "")
            }
            element("span", .class("sub")) {
                [agent.agent, agent.host.map { "on \($0)" }].compactMap { $0 }.joined(separator: " ")
            }
        }
    }

    private func capture(_ agent: AgentsReport.Agent) -> HTML {
        DataTable.cell("capture", "why-cell") {
            if let reason = agent.captureReason {
                element("span", .class("mode warn")) {
                    Icon.part.html
                    agent.capture ?? "off"
                }
                element("span", .class("sub")) { reason }
            } else {
                element("span", .class("mode")) { agent.capture ?? "unknown" }
            }
            if let rules = agent.rules {
                element("span", .class("mode warn")) {
                    Icon.part.html
                    rules == 1 ? "1 rule in force" : "\(rules) rules in force"
                }
            }
        }
    }

    private func process(_ process: ProcessMeasures?) -> HTML {
        DataTable.cell("process", "num") {
            if let process {
                process.memory.map(FigureText.bytes) ?? ""
                for text in [
                    process.uptime.map { "up \(FigureText.age(UInt64($0), isShort: true))" },
                    process.cores.map { "\(FigureText.fixed($0 * 100, 1)) % CPU" },
                    process.threads.map { "\(FigureText.fixed($0, 0)) threads" },
                    process.descriptors.map { "\(FigureText.fixed($0, 0)) files" },
                ].compactMap(\.self) {
                    element("span", .class("sub num")) { text }
                }
            } else {
                unknown
            }
        }
    }

    private func ledger(_ ledger: AgentsReport.Account?) -> HTML {
        guard let ledger else {
            return HTML.joined(
                ["captured", "delivered", "waiting", "dropped", "arrived"].enumerated().map { index, title in
                    DataTable.cell(title, index == 0 ? "num lead" : "num") { unknown }
                })
        }
        return HTML.joined([
            DataTable.cell("captured", "num barred lead") {
                FigureText.grouped(ledger.captured)
                LedgerBar.html(ledger)
            },
            DataTable.cell("delivered", "num") { FigureText.grouped(ledger.delivered) },
            DataTable.cell("waiting", "num") { warned(ledger.waiting) },
            DataTable.cell("dropped", "num") {
                Figure.fault(ledger.droppedCount)
                for reason in ledger.dropped.filter({ $0.value > 0 }).keys.sorted() {
                    element("span", .class("sub num")) { reason }
                }
            },
            DataTable.cell("arrived", "num") { arrived(ledger) },
        ])
    }

    private func arrived(_ ledger: AgentsReport.Account) -> HTML {
        ledger.arrivedShare.map { share in
            element("b") { share < 1 ? FigureText.completeness(share) : "100 %" }
        } ?? none
    }

    private func lastSeen(_ agent: AgentsReport.Agent) -> HTML {
        DataTable.cell("last seen", "num") {
            element("span", .class(agent.isSilent(at: pageRequest.now) ? "warntext" : "")) {
                Figure.age(of: agent.lastSeen, at: pageRequest.now)
            }
            if let refused = agent.refused {
                element("span", .class("sub num warntext")) { "\(refused.amount) refused" }
            }
        }
    }

    private func clockCell(_ clock: AgentClock) -> HTML {
        switch clock {
        case .unknown: DataTable.cell("clock", "num") { unknown }
        case .fits: DataTable.cell("clock", "num") { "in sync" }
        case .ahead(let seconds): offset("+" + FigureText.seconds(seconds), "ahead")
        case .late(let seconds): offset(FigureText.seconds(seconds), "behind, or late")
        }
    }

    private func offset(_ figure: String, _ word: String) -> HTML {
        DataTable.cell("clock", "num") {
            element("span", .class("warntext")) {
                Icon.part.html
                figure
            }
            element("span", .class("sub num")) { word }
        }
    }

    private func foot(_ total: AgentsReport.Account) -> HTML {
        DataTable.row {
            DataTable.name { report.agents.count == 1 ? "The instance" : "All \(report.agents.count)" }
            DataTable.cell("capture", "why-cell") {}
            DataTable.cell("process", "num") {}
            ledger(total)
            DataTable.cell("gaps", "num") {
                warned(report.agents.reduce(0) { $0 &+ ($1.missingBatches ?? 0) })
            }
            element("td", Attribute("colspan", "4")) {}
        }
    }

    /// A number that should be 0.
    private func warned(_ count: UInt64) -> HTML {
        count > 0 ? element("span", .class("warntext")) { FigureText.grouped(count) } : none
    }

    private var none: HTML { element("span", .class("zero")) { "0" } }
    private var unknown: HTML { element("span", .class("zero")) { "unknown" } }
}
