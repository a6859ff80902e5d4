import MartletReports
import MartletTelemetry

/// The conditions of the list: the form that sets them, and a link that leaves each out.
struct RequestSearch {
    /// The conditions that the form has fields for.
    private static let fields: Set<PageParameter> = [
        .search, .kind, .method, .host, .status, .error, .slowerThan, .fasterThan, .failed, .before,
    ]

    let list: RequestList
    private var visit: Visit { list.visit }

    var html: HTML {
        HTML.joined([form, chips, sort])
    }

    private var form: HTML {
        Form.get(visit.base, .class("search"), keeping: visit.parameters, leavingOut: Self.fields) {
            Form.field(
                "Search in address, error, headers, bodies and sender", .search, visit.parameters[.search],
                type: "search",
                class: "grow")
            kind
            Form.choice(
                "Method", .method, list.methods, visit.parameters.all(.method), unseen: list.unseen[.method])
            Form.choice(
                "Host", .host, list.hosts, visit.parameters.all(.host), none: "without a host",
                unseen: list.unseen[.host])
            text("Status", .status, "5xx, 404", characters: 7)
            text("Error", .error, "timeout", characters: 11)
            text("Slower than", .slowerThan, "500ms", characters: 6)
            text("Faster than", .fasterThan, "2s", characters: 6)
            Form.check("Failed only", .failed, isOn: list.filters.contains { $0.name == .failed })
            element("button", .class("primary")) { "Search" }
            EmptyState.note([PageParameter.method, .host].compactMap { list.unseen[$0] }, visit)
        }
    }

    private var kind: HTML {
        let chosen = visit.parameters.all(.kind)
        guard !Form.isKept(chosen) else { return Form.choice("Kind", .kind, [], chosen) }
        return Form.select(
            "Kind", .kind, [("", "made and served"), ("client", "made"), ("server", "served")], chosen.first ?? "")
    }

    /// A field for one value. Values stay as they are if there are more.
    private func text(_ title: String, _ name: PageParameter, _ example: String, characters: Int) -> HTML {
        let chosen = visit.parameters.all(name)
        guard !Form.isKept(chosen) else { return Form.choice(title, name, [], chosen) }
        return Form.field(title, name, chosen.first, placeholder: example, characters: characters)
    }

    private var chips: HTML {
        let found = found
        guard !list.filters.isEmpty || !found.isEmpty else { return .none }
        return element("p", .class("chips")) {
            if !list.filters.isEmpty { element("span", .class("label")) { "Only" } }
            for filter in list.filters {
                link(filter.address(without: visit), .class("on"), .label("Leave out: \(filter.text)")) {
                    filter.words.name
                    if !filter.words.value.isEmpty { element("b") { filter.words.value } }
                    element("span", .hidden) { "×" }
                }
            }
            if !found.isEmpty { element("span", .class("label")) { "Counted" } }
            for (filter, count) in found {
                link(visit.here.with([(filter.name, filter.value), (.before, nil)])) {
                    filter.words.value.isEmpty ? filter.words.name : filter.words.value
                    element("b") { FigureText.grouped(count) }
                }
            }
        }
    }

    /// Conditions to add, and the requests that were counted for each.
    private var found: [(filter: RequestListFilter, count: UInt64)] {
        guard let counted = list.counted else { return [] }
        let failed = [(filter: RequestListFilter(name: .failed, value: "true"), count: counted.failed)]
        let names = Set(list.filters.map(\.name))
        return (failed + counted.causes).filter { filter, count in
            count > 0 && !names.contains(filter.name) && !(filter.name == .error && names.contains(.status))
        }
    }

    /// The order of cards, which have no titles of columns.
    private var sort: HTML {
        Form.get(
            visit.base, .class("sortby"), keeping: visit.parameters, leavingOut: [.sort, .ascending, .before]
        ) {
            Form.select("Sort by", .sort, [("time", "time"), ("duration", "duration")], list.order.key.rawValue)
            Form.check("ascending", .ascending, isOn: list.order.ascending)
            element("button") { "Sort" }
        }
    }
}
