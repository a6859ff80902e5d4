import MartletReports

/// The notice above figures that are not complete: the bounds that still hold, and the agents that know more.
struct IncompleteNotice {
    /// Agents that are named at most.
    private static let maxNamed = 5

    let visit: Visit
    let incompleteness: Incompleteness

    @HTMLBuilder var html: HTML {
        if incompleteness.missing > 0 || !incompleteness.gaps.isEmpty {
            element("aside", .class("notice warn"), Attribute("aria-labelledby", "n-incomplete")) {
                element("h2", .id("n-incomplete")) {
                    Icon.part.html
                    title
                }
                if incompleteness.missing > 0 { element("p") { bounds } }
                for gap in incompleteness.gaps { element("p") { gap.prefix(1).uppercased() + gap.dropFirst() + "." } }
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
        Counts are at least what is shown. Below each failure rate stand the bounds that the missing requests leave open: \
        none of them failed, or all of them did. Agents tell only the service of a missing request, so each may be of any \
        endpoint of its service.
        """

    @HTMLBuilder private var agents: HTML {
        for agent in incompleteness.agents.prefix(Self.maxNamed) {
            element("p") {
                link(visit.address(of: .agents)) { agent.name.isEmpty ? "An agent without a name" : agent.name }
                ": \(agent.facts)."
            }
        }
        if incompleteness.agents.count > Self.maxNamed {
            element("p") {
                link(visit.address(of: .agents)) { "\(incompleteness.agents.count - Self.maxNamed) more agents" }
            }
        }
    }

    /// The bounds of a failure rate, below it.
    static func bounds(_ bounds: FailureBounds?) -> HTML {
        bounds.map { bounds in element("span", .class("sub num bounds")) { bounds.text } } ?? .none
    }
}
