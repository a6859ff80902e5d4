import MartletReports
import MartletStorage
import MartletTelemetry

/// The conditions of the list: the form that sets them, and links that remove them.
struct RequestSearch {
    /// The conditions that the form has fields for.
    private static let fields: Set<PageParameter> = [
        .search, .kind, .system, .method, .host, .status, .error, .slowerThan, .fasterThan, .failed, .before,
    ]

    let list: RequestList
    private var pageRequest: PageRequest { list.pageRequest }

    var html: HTML {
        HTML.joined([form, chips, sort])
    }

    private var form: HTML {
        Form.get(pageRequest.base, .class("search"), keeping: pageRequest.parameters, leavingOut: Self.fields) {
            Form.field(
                "Search in address, error, headers, bodies and sender", .search, pageRequest.parameters[.search],
                type: "search",
                class: "grow")
            kind
            Form.choice(
                "Method", .method, list.methods, pageRequest.parameters.all(.method), unseen: list.unseen[.method])
            Form.choice(
                "Host", .host, list.hosts, pageRequest.parameters.all(.host), none: "without a host",
                unseen: list.unseen[.host])
            system
            text("Status", .status, "5xx, 404", characters: 7)
            text("Error", .error, "timeout", characters: 11)
            text("Slower than", .slowerThan, "500ms", characters: 6)
            text("Faster than", .fasterThan, "2s", characters: 6)
            Form.check("Failed only", .failed, isOn: list.filters.contains { $0.name == .failed })
            element("button", .class("primary")) { "Search" }
            list.pageRequest.note([PageParameter.method, .host, .system].compactMap { list.unseen[$0] })
        }
    }

    private var kind: HTML {
        let chosen = pageRequest.parameters.all(.kind)
        guard !Form.isKept(chosen) else { return Form.choice("Kind", .kind, [], chosen) }
        return Form.select(
            "Kind", .kind, [("", "outgoing and incoming"), ("client", "outgoing"), ("server", "incoming")],
            chosen.first ?? "")
    }

    /// The called systems; nothing if all requests are HTTP.
    private var system: HTML {
        let chosen = pageRequest.parameters.all(.system)
        guard !list.systems.isEmpty || !chosen.isEmpty else { return .none }
        return Form.choice("System", .system, list.systems, chosen, none: "HTTP", unseen: list.unseen[.system])
    }

    /// A field for one value. If several values are set, the form keeps them.
    private func text(_ title: String, _ name: PageParameter, _ example: String, characters: Int) -> HTML {
        let chosen = pageRequest.parameters.all(name)
        guard !Form.isKept(chosen) else { return Form.choice(title, name, [], chosen) }
        return Form.field(title, name, chosen.first, placeholder: example, characters: characters)
    }

    private var chips: HTML {
        let found = found
        guard !list.filters.isEmpty || !found.isEmpty else { return .none }
        return element("p", .class("chips")) {
            if !list.filters.isEmpty { element("span", .class("label")) { "Only" } }
            for filter in list.filters {
                link(filter.address(without: pageRequest), .class("on"), .label("Leave out: \(filter.text)")) {
                    filter.words.name
                    if !filter.words.value.isEmpty { element("b") { filter.words.value } }
                    element("span", .hidden) { "×" }
                }
            }
            if !found.isEmpty { element("span", .class("label")) { "Counted" } }
            for (filter, count) in found {
                link(pageRequest.here.with([(filter.name, filter.value), (.before, nil)])) {
                    filter.words.value.isEmpty ? filter.words.name : filter.words.value
                    element("b") { FigureText.grouped(count) }
                }
            }
        }
    }

    /// Conditions to add, and the number of counted requests for each.
    private var found: [(filter: RequestListFilter, count: UInt64)] {
        guard let counted = list.counted else { return [] }
        let failed = [(filter: RequestListFilter(name: .failed, value: "true"), count: counted.failed)]
        let names = Set(list.filters.map(\.name))
        return (failed + counted.causes).filter { filter, count in
            count > 0 && !names.contains(filter.name) && !(filter.name == .error && names.contains(.status))
        }
    }

    /// The sort order for cards, which have no column titles.
    private var sort: HTML {
        Form.get(
            pageRequest.base, .class("sortby"), keeping: pageRequest.parameters,
            leavingOut: [.sort, .ascending, .before]
        ) {
            Form.select("Sort by", .sort, [("time", "time"), ("duration", "duration")], list.order.key.rawValue)
            Form.check("ascending", .ascending, isOn: list.order.ascending)
            element("button") { "Sort" }
        }
    }
}

/// The number of counted requests that match the conditions of a list, kept or not.
struct CountedRequests: Sendable {
    /// The maximum number of errors that are named.
    private static let maxErrors = 4

    let made: UInt64
    let served: UInt64
    let failed: UInt64
    /// The failed requests by status class, or by error if there was no status; the most frequent first.
    let causes: [(filter: RequestListFilter, count: UInt64)]

    var all: UInt64 { made + served }

    /// - Parameters:
    ///   - answer: groups by status and error.
    ///   - onlyFailed: whether the list has only failed requests. A status may be a failure on only one side of a request.
    init(_ answer: StatisticsAnswer, onlyFailed: Bool) {
        made = answer.totals[.client]?.count ?? 0
        served = answer.totals[.server]?.count ?? 0
        failed = answer.totals.values.reduce(0) { $0 + $1.failed.duration.count }
        let count = { (group: RequestGroup) in onlyFailed ? group.failedCount : group.count }
        causes = Self.classes(of: answer, count) + Self.errors(of: answer, count).prefix(Self.maxErrors)
    }

    /// Returns `nil` if the list has conditions that counts cannot be filtered by.
    static func load(_ pageRequest: PageRequest, in storage: some Storage) async throws -> CountedRequests? {
        let isUnknown = pageRequest.parameters.values.contains {
            [.search, .slowerThan, .fasterThan].contains($0.name)
        }
        guard !isUnknown else { return nil }
        return CountedRequests(
            try await storage.statistics(
                StatisticsQuery(window: pageRequest.window, filter: pageRequest.filter, by: [.status, .error])),
            onlyFailed: pageRequest.parameters[.failed] == "true")
    }

    private static func classes(
        of answer: StatisticsAnswer, _ number: (RequestGroup) -> UInt64
    ) -> [(filter: RequestListFilter, count: UInt64)] {
        ["5xx", "4xx"].compactMap { name in
            let count = answer.groups.filter { ($0.values[0] ?? "").first == name.first }.reduce(0) { $0 + number($1) }
            return count > 0 ? (RequestListFilter(name: .status, value: name), count) : nil
        }
    }

    private static func errors(
        of answer: StatisticsAnswer, _ number: (RequestGroup) -> UInt64
    ) -> [(filter: RequestListFilter, count: UInt64)] {
        var counts: [String: UInt64] = [:]
        for group in answer.groups where group.values[0] == nil {
            if let error = group.values[1] { counts[error, default: 0] += number(group) }
        }
        return counts.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            (RequestListFilter(name: .error, value: $0.key), $0.value)
        }
    }
}
