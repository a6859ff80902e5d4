import MartletReports
import MartletStorage
import MartletTelemetry

/// The document around a view: its head, the links to the other views, the window and the senders, and the footer.
struct PageFrame {
    /// The time between two refreshes, in seconds: an agent's interval.
    private static let refreshSeconds = 10

    let pageRequest: PageRequest
    let facts: FrameData

    /// - Parameters:
    ///   - title: the view and its subject, for the window's title.
    ///   - view: the view to mark in the links.
    ///   - hasScope: whether the window and the senders can be chosen.
    ///   - reload: the seconds until a browser without scripts reloads; `nil` if it does not.
    func document(
        _ title: String, view: PageRequest.View?, hasScope: Bool = true, reload: Int? = nil,
        @HTMLBuilder main: () -> HTML
    ) -> HTML {
        let content = main()
        return PageDocument.html(title, refresh: pageRequest.isLive ? Self.refreshSeconds : nil, reload: reload) {
            top(view)
            if hasScope { ScopeBar(pageRequest: pageRequest, facts: facts).html }
            element("main", .id("main"), Attribute("tabindex", "-1")) { content }
            foot
        }
    }

    private func top(_ current: PageRequest.View?) -> HTML {
        element("header", .class("top")) {
            link(pageRequest.address(of: .overview), .class("brand")) {
                Icon.mark
                "Martlet"
            }
            element("nav", .class("views"), .label("Views")) {
                for view in PageRequest.View.allCases {
                    HTML(
                        "a",
                        [.href(pageRequest.address(of: view))]
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

    /// A tooltip: what the completeness is a share of.
    private var meaning: String {
        switch facts.completeness {
        case nil: "No agent has reported how many requests it captured in this window."
        case let share? where share < 1:
            "The share of captured requests that have arrived, times the share of time in which capture was on."
        default: "All requests that agents captured in this window have arrived, and capture was on all the time."
        }
    }

    private var completeness: HTML {
        let (name, icon): (String, Icon) = (facts.completeness ?? 0) < 1 ? ("state warn", .part) : ("state good", .good)
        return link(pageRequest.address(of: .agents), .class(name), Attribute("title", meaning)) {
            icon.html
            element("span") {
                if let share = facts.completeness, share < 1 {
                    element("b") { FigureText.completeness(share) }
                    " complete"
                } else if facts.completeness != nil {
                    element("b") { "nothing lost" }
                    " (100 %)"
                } else {
                    "completeness unknown"
                }
            }
        }
    }

    private var fresh: HTML {
        element("span", .class(facts.isOld(at: pageRequest.now) ? "fresh stale" : "fresh")) {
            if let latest = facts.latest {
                "latest "
                element("b") { FigureText.age((max(pageRequest.now, latest) - latest) / 1_000_000_000) }
                " ago"
            } else {
                "no data yet"
            }
        }
    }

    /// A window in the past has nothing to refresh.
    private var refresh: HTML {
        guard pageRequest.parameters[.until] == nil else { return .none }
        return link(
            pageRequest.here.with(.refresh, pageRequest.isLive ? "off" : nil), .class("quiet"), Attribute("data-pause")
        ) {
            pageRequest.isLive ? "Pause" : "Resume"
            element("span", .class("wide")) { " refresh" }
        }
    }

    private var foot: HTML {
        element("footer", .class("foot")) {
            element("span") { "Martlet collector \(MartletVersion.current)" }
            if pageRequest.isSignedIn {
                element("form", Attribute("method", "post"), Attribute("action", "/logout")) {
                    element("button") { "Sign out" }
                }
            }
            element("span") { "All times UTC; page generated \(ClockText.seconds(pageRequest.now))" }
        }
    }
}

/// The facts that every view shows: whether its figures can be trusted, and the senders to choose from.
struct FrameData: Sendable {
    /// The maximum number of choices in a list. If there are more, a person can type a name into the address.
    private static let maxChoices = 200
    /// The time after which data counts as old.
    private static let freshness: UInt64 = 30_000_000_000

    /// `nil` if no agent reported on the window.
    var completeness: Double?
    /// The latest time at which the collector received data, by its own clock; `nil` if there was none in the window or the last
    /// day.
    var latest: UnixNanoseconds?
    var environments: [String]
    var services: [String]
    /// The chosen environment and service, if no sender has these names.
    var unseen: [PageParameter: UnknownName] = [:]

    init(_ pageRequest: PageRequest, in storage: some Storage) async throws {
        let day: UInt64 = 86_400_000_000_000
        let since = min(pageRequest.window.from, pageRequest.now - min(pageRequest.now, day))
        completeness = try await storage.account(in: pageRequest.window, pageRequest.filter).completeness
        latest = try await storage.agents(seenSince: since, limit: 1).agents.first?.lastSeen
        let choices = TimeWindow(from: since, to: pageRequest.now)
        environments = try await storage.values(
            ValuesQuery(.environment, window: choices, limit: Self.maxChoices)
        ).values
        services = try await storage.values(ValuesQuery(.service, window: choices, limit: Self.maxChoices)).values
        for (name, seen) in [(PageParameter.environment, environments), (.service, services)] {
            unseen[name] = try await pageRequest.unknownName(name, notIn: seen, in: storage)
        }
    }

    func isOld(at now: UnixNanoseconds) -> Bool {
        latest.map { now > $0 && now - $0 > Self.freshness } ?? true
    }
}

/// The window and the senders of a view: links and forms that change its address.
struct ScopeBar {
    private static let windows = [("15m", "15 m"), ("1h", "1 h"), ("6h", "6 h"), ("24h", "24 h"), ("7d", "7 d")]

    let pageRequest: PageRequest
    let facts: FrameData

    var html: HTML {
        element("div", .class("scope")) {
            windows
            custom
            filters
            pageRequest.note([PageParameter.environment, .service].compactMap { facts.unseen[$0] })
            period
        }
    }

    private var windows: HTML {
        element("nav", .class("windows"), .label("Window")) {
            for (length, title) in Self.windows {
                let isCurrent =
                    (pageRequest.parameters[.since] ?? PageParameter.defaultSince) == length
                    && pageRequest.parameters[.until] == nil
                HTML(
                    "a",
                    [.href(address(of: length))]
                        + (isCurrent ? [Attribute("aria-current", "true")] : []),
                    content: HTML(title))
            }
        }
    }

    /// Returns the address of the view with a window of this length that ends now. Removes a comparison shorter than the
    /// window.
    private func address(of length: String) -> PageAddress {
        let address = pageRequest.here.with([(.since, length), (.until, nil), (.before, nil)])
        guard case .earlier(let earlier)? = try? pageRequest.parameters[.compare].map(ComparisonBase.init),
            earlier < TimeText.nanoseconds(length) ?? 0
        else { return address }
        return address.with([(.compare, nil)])
    }

    private var custom: HTML {
        element("details", .class("custom")) {
            element("summary") { "Custom" }
            Form.get(pageRequest.base, keeping: pageRequest.parameters, leavingOut: [.since, .until, .before]) {
                Form.field("From", .since, TimeText.format(pageRequest.window.from))
                Form.field("To", .until, TimeText.format(pageRequest.window.to))
                element("p", .class("hint")) {
                    "A time, or how long ago: "
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
            pageRequest.base, .class("filters"), keeping: pageRequest.parameters,
            leavingOut: [.environment, .service, .before]
        ) {
            choice("Environment", .environment, facts.environments)
            choice("Service", .service, facts.services)
            element("button") { "Apply" }
        }
    }

    private func choice(_ title: String, _ name: PageParameter, _ known: [String]) -> HTML {
        Form.choice(title, name, known, pageRequest.parameters.all(name), unseen: facts.unseen[name])
    }

    private var period: HTML {
        element("p", .class("period")) {
            time(pageRequest.window.from, after: nil)
            " – "
            time(pageRequest.window.to, after: pageRequest.window.from)
            neighbour("Earlier", "prev", pageRequest.window.before)
            if pageRequest.parameters[.until] != nil, pageRequest.window.to < pageRequest.now {
                neighbour("Later", "next", pageRequest.window.after)
            }
        }
    }

    /// A link to the window before or after this one.
    private func neighbour(_ title: String, _ relation: String, _ window: TimeWindow) -> HTML {
        link(
            pageRequest.here.with([
                (.since, TimeText.exact(window.from)), (.until, TimeText.exact(window.to)), (.before, nil),
            ]), Attribute("rel", relation), .class("quiet"), .label("\(title) window")
        ) { title }
    }

    /// A time with its date. The date is left out if the time before it is on the same day.
    private func time(_ time: UnixNanoseconds, after other: UnixNanoseconds?) -> HTML {
        let text = TimeText.format(time)
        let isSameDay = other.map { TimeText.format($0).prefix(10) == text.prefix(10) } ?? false
        return element("time", Attribute("datetime", text)) {
            (isSameDay ? "" : "\(text.prefix(10)) ") + ClockText.seconds(time)
        }
    }
}

extension TimeWindow {
    /// The window of the same length that ends where this one begins.
    fileprivate var before: TimeWindow { TimeWindow(from: from - min(from, length), to: from) }

    /// The window of the same length that begins where this one ends.
    fileprivate var after: TimeWindow { TimeWindow(from: to, to: to + length) }
}

/// The end of a view: the commands and API responses with the same figures.
struct CommandLine {
    let pageRequest: PageRequest
    var commands: [(subcommand: String, flags: [CommandFlag])]
    /// Titles and addresses.
    var formats: [(String, PageAddress)]

    var html: HTML {
        element("p", .class("cmd")) {
            element("span", .class("label")) { "The same in a terminal" }
            for command in commands {
                element("code") { CommandText.text(command.subcommand, command.flags + pageRequest.collectorFlags) }
            }
            element("span", .class("formats")) {
                for (title, address) in formats { link(address) { title } }
            }
        }
    }
}

extension CommandLine {
    init(
        _ pageRequest: PageRequest, _ subcommand: String, _ flags: [CommandFlag] = [], formats: [(String, PageAddress)]
    ) {
        self.init(pageRequest: pageRequest, commands: [(subcommand, flags)], formats: formats)
    }

    /// The same report as a command and as an API response.
    init(_ pageRequest: PageRequest, report parameters: ReportParameters) {
        self.init(pageRequest, reports: [("JSON", parameters)])
    }

    /// The same reports as commands and as API responses, each response with a title.
    init(_ pageRequest: PageRequest, reports: [(title: String, parameters: ReportParameters)]) {
        self.pageRequest = pageRequest
        commands = reports.map { ("report", $0.parameters.commandFlags) }
        formats = reports.map { ($0.title, PageAddress("/api/v1/report", $0.parameters.query)) }
    }
}
