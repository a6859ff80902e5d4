import MartletReports
import MartletStorage
import MartletTelemetry

/// The window and the senders of a view: links and forms that change its address.
struct ScopeBar {
    private static let windows = [("15m", "15 m"), ("1h", "1 h"), ("6h", "6 h"), ("24h", "24 h"), ("7d", "7 d")]

    let visit: Visit
    let facts: PageFacts

    var html: HTML {
        element("div", .class("scope")) {
            windows
            custom
            filters
            EmptyState.note([PageParameter.environment, .service].compactMap { facts.unseen[$0] }, visit)
            period
        }
    }

    private var windows: HTML {
        element("nav", .class("windows"), .label("Window")) {
            for (length, title) in Self.windows {
                let isCurrent =
                    (visit.parameters[.since] ?? PageParameter.defaultSince) == length
                    && visit.parameters[.until] == nil
                HTML(
                    "a",
                    [.href(address(of: length))]
                        + (isCurrent ? [Attribute("aria-current", "true")] : []),
                    content: HTML(title))
            }
        }
    }

    /// Returns the view in a window of this length up to now, without a comparison that is shorter than it.
    private func address(of length: String) -> PageAddress {
        let address = visit.here.with([(.since, length), (.until, nil), (.before, nil)])
        guard case .earlier(let earlier)? = try? visit.parameters[.compare].map(ComparisonBase.init),
            earlier < TimeText.nanoseconds(length) ?? 0
        else { return address }
        return address.with([(.compare, nil)])
    }

    private var custom: HTML {
        element("details", .class("custom")) {
            element("summary") { "Custom" }
            Form.get(visit.base, keeping: visit.parameters, leavingOut: [.since, .until, .before]) {
                Form.field("From", .since, TimeText.format(visit.window.from))
                Form.field("To", .until, TimeText.format(visit.window.to))
                element("p", .class("hint")) {
                    "A time, or a length of time ago: "
                    element("code") { "90m" }
                    ", "
                    element("code") { "2d" }
                }
                element("button") { "Show" }
            }
        }
    }

    private var filters: HTML {
        Form.get(
            visit.base, .class("filters"), keeping: visit.parameters, leavingOut: [.environment, .service, .before]
        ) {
            choice("Environment", .environment, facts.environments)
            choice("Service", .service, facts.services)
            element("button") { "Apply" }
        }
    }

    private func choice(_ title: String, _ name: PageParameter, _ known: [String]) -> HTML {
        Form.choice(title, name, known, visit.parameters.all(name), unseen: facts.unseen[name])
    }

    private var period: HTML {
        element("p", .class("period")) {
            time(visit.window.from, after: nil)
            " – "
            time(visit.window.to, after: visit.window.from)
            neighbour("Earlier", "prev", visit.window.before)
            if visit.parameters[.until] != nil, visit.window.to < visit.now {
                neighbour("Later", "next", visit.window.after)
            }
        }
    }

    /// A link to the window before or after this one.
    private func neighbour(_ title: String, _ relation: String, _ window: TimeWindow) -> HTML {
        link(
            visit.here.with([
                (.since, TimeText.format(window.from)), (.until, TimeText.format(window.to)), (.before, nil),
            ]), Attribute("rel", relation), .class("quiet"), .label("\(title) window")
        ) { title }
    }

    /// A time with its date, unless it is of the same day as the time before it.
    private func time(_ time: UnixNanoseconds, after other: UnixNanoseconds?) -> HTML {
        let text = TimeText.format(time)
        let isSameDay = other.map { TimeText.format($0).prefix(10) == text.prefix(10) } ?? false
        return element("time", Attribute("datetime", text)) {
            (isSameDay ? "" : "\(text.prefix(10)) ") + text.dropFirst(11).dropLast()
        }
    }
}

extension TimeWindow {
    /// The window of the same length that ends where this one begins.
    fileprivate var before: TimeWindow { TimeWindow(from: from - min(from, length), to: from) }

    /// The window of the same length that begins where this one ends.
    fileprivate var after: TimeWindow { TimeWindow(from: to, to: to + length) }
}
