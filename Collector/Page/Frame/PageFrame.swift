import MartletOTLP
import MartletReports
import MartletStorage
import MartletTelemetry

/// The document around a view: its head, the links to the other views, the window and the senders, and the foot.
struct PageFrame {
    /// The time between two refreshes, in seconds: an agent's interval.
    private static let refreshSeconds = 10

    let visit: Visit
    let facts: PageFacts

    /// - Parameters:
    ///   - title: the view and its subject, for the window's title.
    ///   - view: the view that is marked in the links.
    ///   - hasScope: whether the window and the senders can be chosen.
    ///   - reload: the seconds until a browser that runs no script asks again; `nil` if it does not.
    func document(
        _ title: String, view: Visit.View?, hasScope: Bool = true, reload: Int? = nil, @HTMLBuilder main: () -> HTML
    ) -> HTML {
        let content = main()
        return PageDocument.html(title, refresh: visit.isLive ? Self.refreshSeconds : nil, reload: reload) {
            top(view)
            if hasScope { ScopeBar(visit: visit, facts: facts).html }
            element("main", .id("main"), Attribute("tabindex", "-1")) { content }
            foot
        }
    }

    private func top(_ current: Visit.View?) -> HTML {
        element("header", .class("top")) {
            link(visit.address(of: .overview), .class("brand")) {
                Icon.mark
                "Martlet"
            }
            element("nav", .class("views"), .label("Views")) {
                for view in Visit.View.allCases {
                    HTML(
                        "a",
                        [.href(visit.address(of: view))]
                            + (view == current ? [Attribute("aria-current", "page")] : []),
                        content: HTML(view.title))
                }
            }
            element("div", .class("health")) {
                completeness
                fresh
                refresh
            }
        }
    }

    private var completeness: HTML {
        let (name, icon): (String, Icon) = (facts.completeness ?? 0) < 1 ? ("state warn", .part) : ("state good", .good)
        return link(visit.address(of: .agents), .class(name)) {
            icon.html
            element("span") {
                if let share = facts.completeness {
                    element("b") { share < 1 ? FigureText.completeness(share) : "100 %" }
                    " complete"
                } else {
                    "completeness unknown"
                }
            }
        }
    }

    private var fresh: HTML {
        element("span", .class(facts.isOld(at: visit.now) ? "fresh stale" : "fresh")) {
            if let latest = facts.latest {
                "latest "
                element("b") { FigureText.age((max(visit.now, latest) - latest) / 1_000_000_000) }
                " ago"
            } else {
                "nothing has arrived"
            }
        }
    }

    /// A window that has ended has nothing to refresh.
    private var refresh: HTML {
        guard visit.parameters[.until] == nil else { return .none }
        return link(
            visit.here.with(.refresh, visit.isLive ? "off" : nil), .class("quiet"), Attribute("data-pause")
        ) {
            visit.isLive ? "Pause" : "Resume"
            element("span", .class("wide")) { " refresh" }
        }
    }

    private var foot: HTML {
        element("footer", .class("foot")) {
            element("span") { "Martlet collector \(OTLPScope.version)" }
            if visit.isSignedIn {
                element("form", Attribute("method", "post"), Attribute("action", "/logout")) {
                    element("button") { "Sign out" }
                }
            }
            element("span") { "All times UTC; page made \(TimeText.format(visit.now).dropFirst(11).dropLast())" }
        }
    }
}
