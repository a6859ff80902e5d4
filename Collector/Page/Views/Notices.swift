import MartletReports
import MartletStorage
import MartletTelemetry

/// The notice above incomplete figures: the bounds that still hold, and the agents that can explain the gap.
struct IncompleteNotice {
    /// The maximum number of agents to name.
    private static let maxNamed = 5

    let pageRequest: PageRequest
    let incompleteness: Incompleteness

    @HTMLBuilder var html: HTML {
        if incompleteness.missing > 0 || !incompleteness.gaps.isEmpty {
            element("aside", .class("notice warn"), Attribute("aria-labelledby", "n-incomplete")) {
                element("h2", .id("n-incomplete")) {
                    Icon.part.html
                    title
                }
                if incompleteness.missing > 0 { element("p") { bounds } }
                for gap in incompleteness.gaps { element("p") { gap.capitalizedFirst + "." } }
                agents
            }
        }
    }

    private var title: String {
        let missing = incompleteness.missing
        guard missing > 0 else { return "Read these figures with care" }
        return "\(FigureText.counted(missing, "captured request")) \(missing == 1 ? "has" : "have") not arrived"
    }

    private let bounds = """
        The true counts are at least those shown. The range below each failure rate allows for the missing requests: from \
        none of them failed to all of them failed. Agents report only the service of a missing request, so it may belong to \
        any endpoint of that service.
        """

    @HTMLBuilder private var agents: HTML {
        for agent in incompleteness.agents.prefix(Self.maxNamed) {
            element("p") {
                link(pageRequest.address(of: .agents)) { agent.name.isEmpty ? "An agent without a name" : agent.name }
                ": \(agent.facts)."
            }
        }
        if incompleteness.agents.count > Self.maxNamed {
            element("p") {
                link(pageRequest.address(of: .agents)) { "\(incompleteness.agents.count - Self.maxNamed) more agents" }
            }
        }
    }

    /// The bounds of a failure rate, shown below the rate.
    static func bounds(_ bounds: FailureBounds?) -> HTML {
        bounds.map { bounds in element("span", .class("sub num bounds")) { bounds.text } } ?? .none
    }
}

/// The requests of a window that agents captured but that did not arrive, and the agents that can explain the gap.
struct Incompleteness: Sendable {
    /// Requests that did not arrive, from all senders that the filter selects.
    let missing: UInt64
    /// The missing requests of each service that has any. Agents only know the service: each request could belong to any of its
    /// endpoints.
    let byService: [String: UInt64]
    /// Sentences about agents that are silent, or whose ledgers have waiting or dropped requests or gaps.
    let agents: [(name: String, facts: String)]
    /// Sentences about figures that are missing for other reasons.
    let gaps: [String]

    /// - Parameters:
    ///   - answer: the figures of all services.
    ///   - agents: the senders of the window that the filter selects.
    init(_ pageRequest: PageRequest, _ answer: StatisticsAnswer, _ agents: AgentsAnswer) {
        missing = answer.account.missing
        byService = answer.account.services.mapValues(\.missing).filter { $0.value > 0 }
        // The sentences need no rows.
        var whole = answer
        (whole.groups, whole.slots) = ([], nil)
        gaps = Report(whole, for: StatisticsQuery(window: answer.window, by: [.service, .kind])).gaps
        let isWhole = missing == 0
        self.agents =
            isWhole
            ? []
            : agents.agents.compactMap { record in
                record.shortfall(at: pageRequest.now).map { (record.resource.instance, $0) }
            }
    }

    /// Returns the possible failure rates of a service's requests, or of all requests.
    func bounds(_ measures: RequestMeasures, of service: String? = nil) -> FailureBounds? {
        FailureBounds(
            failed: measures.failures.count, of: measures.count,
            missing: service.map { byService[$0] ?? 0 } ?? missing)
    }
}

extension AgentRecord {
    /// The requests that the agent could not deliver, in words; `nil` if it delivered all.
    fileprivate func shortfall(at now: UnixNanoseconds) -> String? {
        var facts: [String] = []
        if let ledger, ledger.waiting > 0 { facts.append("\(FigureText.grouped(ledger.waiting)) requests are waiting") }
        let dropped = (ledger?.dropped ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
        if !dropped.isEmpty {
            let reasons = dropped.map { "\(FigureText.grouped($0.value)) \($0.key)" }.joined(separator: ", ")
            facts.append("dropped \(reasons)")
        }
        if let gaps, gaps.missing > 0 {
            facts.append(
                "\(gaps.missing) \(gaps.missing == 1 ? "batch of its sequence is" : "batches of its sequence are") missing"
            )
        }
        guard !facts.isEmpty else { return nil }
        if now > lastSeen, now - lastSeen > AgentList.silence {
            facts.insert("silent for \(FigureText.age((now - lastSeen) / 1_000_000_000))", at: 0)
        }
        return facts.joined(separator: ", ")
    }
}

/// The notice about requests that rules changed and about agents with active rules, so that nobody mistakes a drill for an outage.
struct RulesNotice {
    /// The maximum number of agents to name.
    private static let maxNamed = 5

    let pageRequest: PageRequest
    /// The number of requests in the window, and how many of them rules changed.
    let count: UInt64
    let changed: UInt64
    /// The senders that had active rules when they were last seen.
    let agents: [TelemetryResource]

    /// - Parameters:
    ///   - requests: the requests of the window.
    ///   - agents: the senders of the window.
    init(_ pageRequest: PageRequest, _ requests: some Sequence<RequestGroup>, _ agents: [AgentRecord]) {
        self.pageRequest = pageRequest
        count = requests.reduce(0) { $0 &+ $1.count }
        changed = requests.reduce(0) { $0 &+ $1.changed }
        self.agents = agents.map(\.resource).filter { $0.rules != nil && pageRequest.filter.matches($0) }
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
                        "Rules of their services changed the response, address, timing or headers. This is a drill, not an outage. "
                        link(report) { "By rule, as JSON" }
                    }
                }
                for agent in agents.prefix(Self.maxNamed) {
                    element("p") {
                        link(pageRequest.address(of: .agents)) { "\(agent.service) \(agent.instance)" }
                        agent.rules == 1 ? ": 1 rule is in force." : ": \(agent.rules ?? 0) rules are in force."
                    }
                }
                if agents.count > Self.maxNamed {
                    element("p") {
                        link(pageRequest.address(of: .agents)) { "\(agents.count - Self.maxNamed) more agents" }
                    }
                }
            }
        }
    }

    private var title: String {
        guard changed > 0 else { return "Rules that change requests are in force" }
        return "Rules changed \(FigureText.grouped(changed)) of \(FigureText.counted(count, "request"))"
    }

    private var report: PageAddress {
        var parameters = pageRequest.parameters(for: ReportParameter.self, leavingOut: [.kind, .compare])
        parameters.add(.by, Dimension.service.rawValue)
        parameters.add(.by, Dimension.rule.rawValue)
        return PageAddress("/api/v1/report", parameters.query)
    }
}
