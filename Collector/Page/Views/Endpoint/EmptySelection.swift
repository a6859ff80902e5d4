import MartletReports
import MartletStorage

/// The explanation of an endpoint without requests in the window, and the ways out.
struct EmptySelection {
    /// Names that can be left out of the selection.
    private static let filters: [PageParameter] = {
        let widest: [Dimension] = [.environment, .service]
        let others = Dimension.allCases.filter { $0 != .kind && !widest.contains($0) }
        return (widest + others).map(PageParameter.init)
    }()
    private static let minute: UInt64 = 60_000_000_000

    let endpoint: Endpoint
    private var visit: Visit { endpoint.visit }

    var html: HTML {
        element("section", .class("notice"), Attribute("aria-labelledby", "h-empty")) {
            if let names = endpoint.unknown {
                element("h2", .id("h-empty")) { "No \(names.flag) is called \(names.wanted)" }
                element("p") { EmptyState.nearest(names, visit) }
            } else {
                element("h2", .id("h-empty")) { "No requests in this window" }
                element("p") { history }
            }
            if !given.isEmpty {
                element("p") {
                    "Leave out: "
                    for (index, name) in given.enumerated() {
                        index > 0 ? ", " : ""
                        link(visit.here.with(name, nil)) { name.rawValue }
                    }
                }
            }
        }
    }

    private var given: [PageParameter] { Self.filters.filter { visit.parameters[$0] != nil } }

    /// The time of the latest requests before, with a link to the five minutes around them.
    @HTMLBuilder private var history: HTML {
        if let time = endpoint.latestBefore {
            "The latest came at "
            link(visit.here.with([(.since, since(time)), (.until, until(time))])) {
                "\(ClockText.day(time)), \(ClockText.seconds(time))"
            }
        } else {
            "There were none in the week before it either. "
            link(visit.here.with([(.since, "30d"), (.until, nil)])) { "The last 30 days" }
        }
    }

    private func until(_ time: UInt64) -> String { TimeText.format((time / Self.minute + 1) * Self.minute) }

    private func since(_ time: UInt64) -> String { TimeText.format((max(4, time / Self.minute) - 4) * Self.minute) }
}
