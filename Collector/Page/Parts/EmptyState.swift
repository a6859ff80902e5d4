import MartletReports
import MartletStorage
import MartletTelemetry

/// The reason that a view has nothing to show.
package struct EmptyState: Sendable {
    enum Reason: Sendable, Equatable {
        case nobodyEverSent
        /// A filter asks for a name that the store does not have.
        case unknownName(EmptyAnswer.Names)
        /// The latest arrival from the senders that the filters select lies before the window: its time, by the collector's clock, and
        /// its sender.
        case earlier(UnixNanoseconds, sender: String)
        /// The senders that the filters select sent in the window, and nothing that counts.
        case uncounted
        /// The window has requests, and the filters select none of them.
        case filtered
        case nothing
    }

    /// The time in which names are looked for: as long as points are kept by default.
    private static let memory: UInt64 = 400 * 86_400_000_000_000
    /// Names at most. Among more, none is called unknown.
    private static let maxNames = 1000

    let visit: Visit
    let reason: Reason
    /// The end of the latest interval before the window with requests that the filters select (``LatestRequest``).
    let latestRequest: UnixNanoseconds?

    /// - Throws: the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        self.visit = visit
        reason = try await Self.reason(of: visit, in: storage)
        let version = Self.version(of: visit).map { [(Dimension.version, $0)] } ?? []
        latestRequest = try await visit.latestRequest(visit.wanted + version, before: visit.window, in: storage)
    }

    /// Returns the version whose requests a comparison of versions is about; `nil` for every other view.
    private static func version(of visit: Visit) -> String? { ComparisonBase.versions(in: visit.comparison)?.after }

    private static func reason(of visit: Visit, in storage: some Storage) async throws -> Reason {
        if try await storage.agents(seenSince: 0, limit: 1).agents.isEmpty { return .nobodyEverSent }
        if let names = try await unknown(visit, in: storage) { return .unknownName(names) }
        var filter = visit.filter
        let version = version(of: visit)
        if let version { filter.select(.version, version) }
        let latest = try await storage.agents(seenSince: 0, filter, limit: 1).agents.first
        if let latest, latest.lastSeen <= visit.window.from {
            return .earlier(latest.lastSeen, sender: latest.resource.service)
        }
        if visit.filters.isEmpty, version == nil { return .nothing }
        let isOfSendersAlone = visit.filters.allSatisfy { $0.name.filteredDimension?.isOfSender ?? false }
        guard isOfSendersAlone, let latest, latest.lastSeen <= visit.window.to else { return .filtered }
        return .uncounted
    }

    /// Returns the first filter with a name that the store does not have, or that the senders of the other filters do not.
    static func unknown(_ visit: Visit, in storage: some Storage) async throws -> EmptyAnswer.Names? {
        for wanted in visit.wanted {
            if let names = try await unknown(wanted, beside: visit.wanted, at: visit.now, in: storage) { return names }
        }
        return nil
    }

    /// Returns the one chosen value of a filter if the store does not have it.
    ///
    /// - Parameter seen: values that it has.
    static func unknown(
        _ name: PageParameter, notIn seen: [String], _ visit: Visit, in storage: some Storage
    ) async throws -> EmptyAnswer.Names? {
        let chosen = visit.parameters.all(name)
        guard let dimension = name.filteredDimension, let wanted = chosen.first, chosen.count == 1,
            !wanted.isEmpty, !seen.contains(wanted)
        else { return nil }
        return try await unknown((dimension, wanted), at: visit.now, in: storage)
    }

    private static func unknown(
        _ wanted: EmptyAnswer.Names.Wanted, beside filters: [EmptyAnswer.Names.Wanted] = [], at now: UnixNanoseconds,
        in storage: some Storage
    ) async throws -> EmptyAnswer.Names? {
        guard EmptyAnswer.Names.dimensions.contains(wanted.dimension) else { return nil }
        let window = TimeWindow(from: now - min(now, memory), to: now)
        let names = try await EmptyAnswer.Names.find(wanted, beside: filters) { senders in
            var filter = RequestFilter()
            for (dimension, value) in senders { filter.select(dimension, value) }
            let answer = try await storage.values(
                ValuesQuery(wanted.dimension, window: window, filter: filter, limit: maxNames))
            return answer.isThereMore ? nil : answer.values
        }
        return names.flatMap { $0.isKnown ? nil : $0 }
    }

    /// Whether there is anything to choose from.
    var hasScope: Bool { reason != .nobodyEverSent }
}

extension Visit {
    /// The parameters that leave out requests.
    var filters: [(name: PageParameter, value: String)] {
        parameters.values.filter {
            $0.name.filteredDimension != nil
                || [.failed, .slowerThan, .fasterThan, .search].contains($0.name)
        }
    }

    /// The values that are asked for of dimensions.
    var wanted: [EmptyAnswer.Names.Wanted] {
        parameters.values.compactMap { name, value in name.filteredDimension.map { ($0, value) } }
    }

    /// Returns the end of the latest interval before a window with requests that filters select (``LatestRequest``).
    func latestRequest(
        _ filters: [EmptyAnswer.Names.Wanted], before window: TimeWindow, in storage: some Storage
    ) async throws -> UnixNanoseconds? {
        try await LatestRequest.end(before: window.from, filters) { parameters in
            try await storage.report(try parameters.query(now: now))
        }
    }

    /// Throws if a filter is not one of those that a view has. It would select nothing there.
    func refuseFilters(besides dimensions: [Dimension], of view: String) throws(ParameterError) {
        let names = dimensions.map(PageParameter.init)
        guard let other = filters.first(where: { !names.contains($0.name) })?.name.rawValue else { return }
        throw ParameterError(
            "\(other) is no filter of \(view), which has \(NameList.text(names.map(\.rawValue))) alone")
    }

    /// Returns the view's own address without one of its filters.
    func address(without filter: (name: PageParameter, value: String)) -> PageAddress {
        parameters.values.filter { $0 != filter && $0.name != .before }.reduce(base) { $0.adding($1.name, $1.value) }
    }

    /// The window in words, such as `in the last 15 min`.
    var windowInWords: String {
        let since = parameters[.since] ?? PageParameter.defaultSince
        if parameters[.until] == nil, let length = TimeText.nanoseconds(since) {
            return "in the last \(FigureText.age(length / 1_000_000_000))"
        }
        return "from \(TimeText.format(window.from)) to \(TimeText.format(window.to))"
    }
}

extension EmptyState {
    package var html: HTML {
        HTML.joined([
            element("section", .class("lead-in"), .label("The answer")) {
                element("h1") { sentence }
                element("p") { advice }
            },
            reason == .nobodyEverSent ? FirstSteps.html(visit) : FilterChips(visit: visit, filters: visit.filters).html,
        ])
    }

    private var sentence: String {
        switch reason {
        case .nobodyEverSent: "Nothing has been sent to this collector yet"
        case .unknownName(let names): "No \(names.subject) is called \(names.wanted)"
        case .earlier:
            "Nothing came \(visit.filter.wanted.keys.contains(where: \.isOfSender) ? "from the chosen senders " : "")\(visit.windowInWords)"
        case .uncounted: "No requests came from the chosen senders \(visit.windowInWords)"
        case .filtered: "No request matches the filters \(visit.windowInWords)"
        case .nothing: "No requests \(visit.windowInWords)"
        }
    }

    @HTMLBuilder private var advice: HTML {
        switch reason {
        case .nobodyEverSent:
            "Put the agent into a service. \(EmptyAnswer.pace), so its first requests are here some ten seconds after they were made."
        case .unknownName(let names): Self.nearest(names, visit)
        case .earlier(let time, let sender):
            let request = latestRequest.flatMap { EmptyAnswer.isEarly($0, for: time) ? $0 : nil }
            "The latest came "
            request == nil ? visit.hour(until: time) : HTML(visit.age(of: time))
            ", at \(TimeText.format(time)), from \(sender)."
            if let request { latestOne(request) }
        case .uncounted:
            "They were heard of: "
            link(visit.address(of: .agents)) { "their list" }
            "."
            if let latestRequest { latestOne(latestRequest) }
        case .filtered:
            latestRequest.map(latestOne) ?? HTML("Leave out a filter to see other requests of this time.")
        case .nothing: latestRequest.map(latestOne) ?? longer
        }
    }

    @HTMLBuilder private var longer: HTML {
        "The agents that were heard of are in "
        link(visit.address(of: .agents)) { "their list" }
        ". "
        link(visit.here.with([(.since, "7d"), (.until, nil), (.before, nil)])) { "The last 7 days" }
        " may have requests."
    }

    private func latestOne(_ time: UnixNanoseconds) -> HTML { Self.latestRequest(time, visit) }

    /// The sentence about the latest request before the window.
    @HTMLBuilder static func latestRequest(_ time: UnixNanoseconds, _ visit: Visit) -> HTML {
        " The latest request came "
        visit.hour(until: time)
        ", at \(TimeText.format(time))."
    }

    /// The names that the store has, and a link to the nearest one.
    @HTMLBuilder static func nearest(_ names: EmptyAnswer.Names, _ visit: Visit) -> HTML {
        (names.list ?? "None is known") + ". "
        if names.nearest != nil {
            "The nearest is "
            nearestLink(names, visit)
            "."
        }
    }

    /// A link to the name that a person may have meant in the place of the one that nobody has.
    @HTMLBuilder static func nearestLink(_ names: EmptyAnswer.Names, _ visit: Visit) -> HTML {
        if let nearest = names.nearest, let name = PageParameter(rawValue: names.flag) {
            link(visit.here.with([(name, nearest), (.before, nil)])) { nearest }
        }
    }

    /// The note beside a list of choices that the chosen name is none of them.
    @HTMLBuilder static func note(_ unseen: [EmptyAnswer.Names], _ visit: Visit) -> HTML {
        for names in unseen {
            element("p", .class("unseen")) {
                "No \(names.flag) \(names.wanted) was ever seen"
                if names.nearest != nil {
                    "; the nearest is "
                    nearestLink(names, visit)
                }
                "."
            }
        }
    }
}

extension Visit {
    /// The age of a time in words.
    fileprivate func age(of time: UnixNanoseconds) -> String {
        "\(FigureText.age((max(now, time) - time) / 1_000_000_000)) ago"
    }

    /// The age of a time, as a link to this view in the hour before it.
    fileprivate func hour(until time: UnixNanoseconds) -> HTML {
        let window = EmptyAnswer.window(of: time)
        return link(here.with([(.since, window.since), (.until, window.until), (.before, nil)])) { age(of: time) }
    }
}

/// The way from nothing to the first request.
enum FirstSteps {
    static func html(_ visit: Visit) -> HTML {
        HTML.joined([
            element("div", .class("two uneven-r")) {
                element("ol", .class("steps")) {
                    step(
                        "Add the package",
                        """
                        // Package.swift
                        .package(name: "martlet", path: "../martlet"),    // or the URL that you cloned it from
                        // …
                        .product(name: "Martlet", package: "martlet"),
                        """)
                    step(
                        "Start the agent, first thing in main",
                        """
                        import Martlet

                        let agent = MartletAgent.start()

                        // … your service, unchanged …

                        await agent.shutdown(within: .seconds(5))
                        """, "No request of the service has to be changed.")
                    step(
                        "Say who it is and where this collector is",
                        "MARTLET_SERVICE_NAME=checkout MARTLET_ENDPOINT=\(visit.collectorAddress) ./checkout",
                        """
                        MARTLET_ENDPOINT is \(CollectorAddress.usual) unless it is set. Services with an OpenTelemetry SDK need no \
                        agent: they send OTLP over HTTP to \(visit.collectorAddress).
                        """)
                }
                expected
            },
            CommandLine(visit, "agents", formats: [("JSON", PageAddress("/api/v1/agents"))]).html,
        ])
    }

    private static func step(_ title: String, _ code: String, _ hint: String? = nil) -> HTML {
        element("li", .class("panel")) {
            element("h2") { title }
            element("pre", .class("select"), Attribute("tabindex", "0")) { code }
            if let hint { element("p", .class("hint")) { hint } }
        }
    }

    private static var expected: HTML {
        element("section", .class("panel"), Attribute("aria-labelledby", "h-why")) {
            element("h2", .id("h-why")) { "If you expected something here" }
            element("h3") { "From the service’s side" }
            element("p", .class("hint")) {
                element("code") { "agent.status" }
                " tells how requests are seen, how many wait, and why the last upload failed."
            }
            element("h3") { "From this side" }
            element("p", .class("hint")) {
                "A collector with an ingest token takes no batch without it: set "
                element("code") { "MARTLET_TOKEN" }
                " in the service. One that listens on 127.0.0.1 cannot be reached from other hosts. Its log and "
                link(PageAddress("/metrics")) { "its own figures" }
                " tell what was refused."
            }
        }
    }
}
