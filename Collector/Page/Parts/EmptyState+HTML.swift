import MartletReports
import MartletTelemetry

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
