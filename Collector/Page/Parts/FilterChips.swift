/// Filters in force, each with a link that leaves it out.
struct FilterChips {
    let visit: Visit
    let filters: [(name: PageParameter, value: String)]

    @HTMLBuilder var html: HTML {
        if !filters.isEmpty {
            element("section", Attribute("aria-labelledby", "h-filters")) {
                element("h2", .id("h-filters"), .class("vh")) { "Filters in force" }
                element("ul", .class("chips")) {
                    for filter in filters {
                        element("li") {
                            if filter.value.isEmpty {
                                "without \(filter.name.rawValue) "
                            } else {
                                "only \(filter.name.rawValue) "
                                element("b") { filter.value }
                                " "
                            }
                            link(
                                visit.address(without: filter),
                                .label("Leave out \(filter.name.rawValue) \(filter.value)")
                            ) {
                                "leave out"
                            }
                        }
                    }
                }
            }
        }
    }
}

extension FilterChips {
    /// The filters that the bar above a view does not show.
    init(beside visit: Visit) {
        self.init(
            visit: visit,
            filters: visit.filters.filter {
                (!PageParameter.scope.contains($0.name) && $0.name != .kind)
                    || Form.isKept(visit.parameters.all($0.name))
            })
    }
}
