import MartletReports
import MartletStorage
import MartletTelemetry

/// Why a view has nothing to show, with links to what helps next.
struct NoResultsView: Sendable {
    let pageRequest: PageRequest
    let reason: NoResultsReason
    /// Whether the view leaves out requests.
    private let isFiltered: Bool

    /// - Parameter base: the parameter `compare` of the view's report; `nil` if it has none.
    /// - Throws: the store's error.
    init(_ pageRequest: PageRequest, comparedWith base: String? = nil, in storage: some Storage) async throws {
        self.pageRequest = pageRequest
        isFiltered = !pageRequest.filters.isEmpty || ComparisonBase.versions(in: base) != nil
        reason = try await storage.noResultsReason(
            for: pageRequest.parameters.filters, in: pageRequest.window, comparedWith: base, now: pageRequest.now)
    }

    /// Whether an agent has reported, so that there are senders to choose from.
    var hasScope: Bool { reason != .nobodyReported }

    /// The complete content of a view.
    var html: HTML {
        HTML.joined([
            element("section", .class("lead-in"), .label("The answer")) {
                element("h1") { sentence }
                element("p") { advice }
            },
            hasScope ? chips : FirstSteps.html(pageRequest),
        ])
    }

    /// A section within a view that has a title.
    var notice: HTML {
        HTML.joined([
            element("section", .class("notice"), Attribute("aria-labelledby", "h-empty")) {
                element("h2", .id("h-empty")) { sentence }
                element("p") { advice }
            }, chips,
        ])
    }

    private var chips: HTML { FilterChips(pageRequest: pageRequest, filters: pageRequest.filters).html }

    private var sentence: String {
        switch reason {
        case .nobodyReported: "No agents have reported yet"
        case .unknownName(let name): name.title
        case .silent:
            "Nothing came \(pageRequest.filter.wanted.keys.contains(where: \.isSenderAttribute) ? "from the chosen senders " : "")\(pageRequest.period)"
        case .uncounted: "No requests came from the chosen senders \(pageRequest.period)"
        case .refused, .clockAhead, .idle, .nothingFound:
            isFiltered ? "No request matches the filters \(pageRequest.period)" : "No requests \(pageRequest.period)"
        }
    }

    @HTMLBuilder var advice: HTML {
        switch reason {
        case .nobodyReported:
            "Put the agent into a service. \(NoResultsText.pace), so its first requests are here some ten seconds after they were made."
        case .unknownName(let name):
            (name.list ?? "None is known") + ". "
            if name.nearest != nil {
                "The nearest is "
                pageRequest.nearest(to: name)
                "."
            }
        case .refused(let sender, let why):
            "The collector refused what \(sender.service) sent, the latest \(pageRequest.age(of: sender.lastSeen)): \(why). "
            link(pageRequest.address(of: .agents)) { "The list of agents" }
            " has the numbers."
        case .clockAhead(let clock, let request):
            "\(clock.sentence), so its requests are dated too late, up to \(TimeText.format(request)). Set that clock. Until then "
            pageRequest.hour(until: request, "this window")
            " has its latest requests."
        case .silent(let sender, let request):
            "The latest came "
            request == nil ? pageRequest.hour(until: sender.lastSeen) : HTML(pageRequest.age(of: sender.lastSeen))
            ", at \(TimeText.format(sender.lastSeen)), from \(sender.service)."
            if let request { latest(request) }
        case .idle(let request): latest(request)
        case .uncounted:
            "They were seen: "
            link(pageRequest.address(of: .agents)) { "their list" }
            "."
        case .nothingFound: isFiltered ? HTML("Leave out a filter to see other requests of this time.") : longer
        }
    }

    @HTMLBuilder private func latest(_ request: UnixNanoseconds) -> HTML {
        " The latest request came "
        pageRequest.hour(until: request)
        ", at \(TimeText.format(request))."
    }

    @HTMLBuilder private var longer: HTML {
        "There were none in the week before either. "
        link(pageRequest.here.with([(.since, "30d"), (.until, nil), (.before, nil)])) { "The last 30 days" }
        " may have some. "
        link(pageRequest.address(of: .agents)) { "The agents that were seen" }
        " are in their list."
    }
}

extension PageRequest {
    /// The parameters that leave out requests.
    var filters: [RequestListFilter] {
        parameters.values.filter {
            $0.name.filteredDimension != nil || [.failed, .slowerThan, .fasterThan, .search].contains($0.name)
        }.map { RequestListFilter(name: $0.name, value: $0.value) }
    }

    /// Throws if a filter is not one of the view's, because it would select nothing there.
    func refuseFilters(except dimensions: [Dimension], of view: String) throws(ParameterError) {
        let names = dimensions.map(PageParameter.init)
        guard let other = filters.first(where: { !names.contains($0.name) })?.name.rawValue else { return }
        throw ParameterError(
            "\(other) is no filter of \(view), which has only \(NameList.text(names.map(\.rawValue)))")
    }

    /// Returns the single chosen value of a filter, if the store does not have it.
    ///
    /// - Parameter seen: values that the store has.
    func unknownName(
        _ name: PageParameter, notIn seen: [String], in storage: some Storage
    ) async throws -> UnknownName? {
        let chosen = parameters.all(name)
        guard let dimension = name.filteredDimension, let wanted = chosen.first, chosen.count == 1,
            !seen.contains(wanted)
        else { return nil }
        return try await storage.unknownName((dimension, wanted), now: now)
    }

    /// A note below a list of choices, for a chosen name that is not among them.
    @HTMLBuilder func note(_ unknown: [UnknownName]) -> HTML {
        for name in unknown {
            element("p", .class("unseen")) {
                "No \(name.dimension.rawValue) \(name.wanted) was ever seen"
                if name.nearest != nil {
                    "; the nearest is "
                    nearest(to: name)
                }
                "."
            }
        }
    }

    /// A link to this view with the name that the person may have meant.
    fileprivate func nearest(to name: UnknownName) -> HTML {
        let address = parameters.values.filter { $0.name != .before }.reduce(base) {
            $0.adding($1.name, name.corrected($1.value, of: $1.name.rawValue))
        }
        return link(address) { name.nearest ?? "" }
    }

    /// The age of a time in words.
    fileprivate func age(of time: UnixNanoseconds) -> String {
        "\(FigureText.age((max(now, time) - time) / 1_000_000_000)) ago"
    }

    /// A link to this view in the hour up to a time.
    ///
    /// - Parameter text: the link's text; `nil` for the age of the time.
    fileprivate func hour(until time: UnixNanoseconds, _ text: String? = nil) -> HTML {
        let hour = NoResultsReason.hour(of: time)
        let window: [(PageParameter, String?)] = [
            (.since, TimeText.format(hour.from)), (.until, TimeText.format(hour.to)), (.before, nil),
        ]
        return link(here.with(window)) { text ?? age(of: time) }
    }
}
