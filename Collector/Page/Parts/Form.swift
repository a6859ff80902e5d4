import MartletReports
import MartletStorage

/// Forms. All except ``post(_:content:)`` only load an address and change nothing.
enum Form {
    /// A form that changes something. Its parameters are in the address.
    static func post(_ address: PageAddress, @HTMLBuilder content: () -> HTML) -> HTML {
        element("form", Attribute("method", "post"), Attribute("action", address.text), content: content)
    }

    /// - Parameters:
    ///   - keeping: the parameters that the form passes on.
    ///   - names: the parameters of the form's visible fields.
    static func get(
        _ address: PageAddress, _ attributes: Attribute..., keeping parameters: PageParameters,
        leavingOut names: Set<PageParameter>, @HTMLBuilder content: () -> HTML
    ) -> HTML {
        let fields = content()
        return HTML(
            "form", attributes + [Attribute("method", "get"), Attribute("action", address.text)],
            content: HTML.joined(
                parameters.values.filter { !names.contains($0.name) }.map { hidden($0.name.rawValue, $0.value) }
                    + [fields]))
    }

    static func field(
        _ title: String, _ name: PageParameter, _ value: String?, type: String = "text", placeholder: String? = nil,
        characters: Int? = nil, class names: String? = nil
    ) -> HTML {
        HTML.joined([
            HTML(
                "label", names.map { [.class($0)] } ?? [],
                content: HTML.joined([
                    element("span") { title },
                    HTML(
                        "input",
                        [
                            Attribute("type", type), Attribute("name", name.rawValue), .value(value ?? ""),
                        ] + (placeholder.map { [Attribute("placeholder", $0)] } ?? [])
                            + (characters.map { [Attribute("size", String($0))] } ?? []), content: nil),
                ])), mayBeEmpty(name),
        ])
    }

    /// A menu of one value, or of all. If several values are chosen, the form keeps them.
    ///
    /// - Parameters:
    ///   - none: the title of the option for requests without a value; `nil` if there is no such option.
    ///   - unseen: the chosen value, if no sender has it.
    static func choice(
        _ title: String, _ name: PageParameter, _ known: [String], _ chosen: [String], none: String? = nil,
        unseen: UnknownName? = nil
    ) -> HTML {
        guard !isKept(chosen) || (none != nil && chosen == [""]) else {
            return HTML.joined(chosen.map { hidden(name.rawValue, $0) })
        }
        let names = (known + chosen.filter { !known.contains($0) }).filter { !$0.isEmpty }
        let options =
            [("", "all")] + [none].compactMap { $0.map { (PageParameter.noValue, $0) } }
            + names.map { ($0, $0 == unseen?.wanted ? "\($0) (never seen)" : $0) }
        return select(title, name, options, chosen == [""] ? PageParameter.noValue : chosen.first ?? "")
    }

    /// Whether the form passes on the chosen values in hidden fields. A menu cannot show several values, or an empty one if it
    /// has no option for requests without a value.
    static func isKept(_ chosen: [String]) -> Bool { chosen.count > 1 || chosen == [""] }

    static func hidden(_ name: String, _ value: String) -> HTML {
        emptyElement("input", Attribute("type", "hidden"), Attribute("name", name), .value(value))
    }

    /// Marks the field of a dimension as one that selects everything if it is empty.
    private static func mayBeEmpty(_ name: PageParameter) -> HTML {
        name.filteredDimension == nil ? .none : hidden(PageParameter.emptyFields, name.rawValue)
    }

    /// - Parameter options: the values and their names.
    static func select(
        _ title: String, _ name: PageParameter, _ options: [(value: String, title: String)], _ chosen: String
    ) -> HTML {
        HTML.joined([
            element("label") {
                element("span") { title }
                element("select", Attribute("name", name.rawValue)) {
                    for option in options {
                        HTML(
                            "option",
                            [.value(option.value)]
                                + (option.value == chosen ? [Attribute("selected")] : []),
                            content: HTML(TerminalText.plain(option.title)))
                    }
                }
            }, mayBeEmpty(name),
        ])
    }

    static func check(_ title: String, _ name: PageParameter, isOn: Bool) -> HTML {
        element("label", .class("check")) {
            HTML(
                "input",
                [Attribute("type", "checkbox"), Attribute("name", name.rawValue), Attribute("value", "true")]
                    + (isOn ? [Attribute("checked")] : []), content: nil)
            element("span") { title }
        }
    }
}

/// The active filters, each with a link that removes it.
struct FilterChips {
    let pageRequest: PageRequest
    let filters: [RequestListFilter]

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
                                filter.address(without: pageRequest),
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
    init(above pageRequest: PageRequest) {
        self.init(
            pageRequest: pageRequest,
            filters: pageRequest.filters.filter {
                (!PageParameter.scope.contains($0.name) && $0.name != .kind)
                    || Form.isKept(pageRequest.parameters.all($0.name))
            })
    }
}
