import MartletReports
import MartletStorage
import MartletTelemetry

/// The notice above figures with requests that rules changed, and of agents with rules in force, so that nobody takes a drill
/// for an outage.
struct RulesNotice {
    /// Agents that are named at most.
    private static let maxNamed = 5

    let visit: Visit
    /// The requests of the window, and those of them that rules changed.
    let count: UInt64
    let changed: UInt64
    /// The senders with rules in force when they were last heard of.
    let agents: [TelemetryResource]

    /// - Parameters:
    ///   - requests: the requests of the window.
    ///   - agents: the senders of the window.
    init(_ visit: Visit, _ requests: some Sequence<RequestGroup>, _ agents: [AgentRecord]) {
        self.visit = visit
        count = requests.reduce(0) { $0 &+ $1.count }
        changed = requests.reduce(0) { $0 &+ $1.changed }
        self.agents = agents.map(\.resource).filter { $0.rules != nil && visit.filter.matches($0) }
    }

    @HTMLBuilder var html: HTML {
        if changed > 0 || !agents.isEmpty {
            element("aside", .class("notice warn"), Attribute("aria-labelledby", "n-rules")) {
                element("h2", .id("n-rules")) {
                    Icon.part.html
                    title
                }
                if changed > 0 {
                    element("p") {
                        "Rules of their services gave them another answer, address, time or header: a drill, and no outage. "
                        link(report) { "By rule, as JSON" }
                    }
                }
                for agent in agents.prefix(Self.maxNamed) {
                    element("p") {
                        link(visit.address(of: .agents)) { "\(agent.service) \(agent.instance)" }
                        agent.rules == 1 ? ": 1 rule is in force." : ": \(agent.rules ?? 0) rules are in force."
                    }
                }
                if agents.count > Self.maxNamed {
                    element("p") {
                        link(visit.address(of: .agents)) { "\(agents.count - Self.maxNamed) more agents" }
                    }
                }
            }
        }
    }

    private var title: String {
        guard changed > 0 else { return "Rules are in force that change requests" }
        return "Rules changed \(FigureText.grouped(changed)) of \(FigureText.counted(count, "request"))"
    }

    private var report: PageAddress {
        var parameters = visit.parameters(for: ReportParameter.self, leavingOut: [.kind, .compare])
        parameters.add(.by, Dimension.service.rawValue)
        parameters.add(.by, Dimension.rule.rawValue)
        return PageAddress("/api/v1/report", parameters.query)
    }
}
