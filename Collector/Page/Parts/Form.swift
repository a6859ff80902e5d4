import MartletReports
import MartletStorage

/// Forms. All but ``post(_:content:)`` ask for an address and change nothing.
enum Form {
    /// A form that changes something. Its parameters are those of the address.
    static func post(_ address: PageAddress, @HTMLBuilder content: () -> HTML) -> HTML {
        element("form", Attribute("method", "post"), Attribute("action", address.text), content: content)
    }

    /// - Parameters:
    ///   - keeping: the parameters that the form hands on.
    ///   - names: the parameters that the form's own fields have.
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
                            Attribute("type", type), Attribute("name", name.rawValue), Attribute("value", value ?? ""),
                        ] + (placeholder.map { [Attribute("placeholder", $0)] } ?? [])
                            + (characters.map { [Attribute("size", String($0))] } ?? []), content: nil),
                ])), mayBeEmpty(name),
        ])
    }

    /// A choice of one value, or of all. Values that are chosen and not known, more than one, or an empty one stay as they are.
    static func choice(_ title: String, _ name: PageParameter, _ known: [String], _ chosen: [String]) -> HTML {
        guard !isKept(chosen) else { return HTML.joined(chosen.map { hidden(name.rawValue, $0) }) }
        let names = (known + chosen.filter { !known.contains($0) }).filter { !$0.isEmpty }
        return select(title, name, [("", "all")] + names.map { ($0, $0) }, chosen.first ?? "")
    }

    /// Whether a field cannot show the chosen values, and so hands them on.
    static func isKept(_ chosen: [String]) -> Bool { chosen.count > 1 || chosen == [""] }

    static func hidden(_ name: String, _ value: String) -> HTML {
        emptyElement("input", Attribute("type", "hidden"), Attribute("name", name), Attribute("value", value))
    }

    /// Says that the field of a dimension selects everything if it is empty.
    private static func mayBeEmpty(_ name: PageParameter) -> HTML {
        Dimension(rawValue: name.rawValue) == nil ? .none : hidden(PageParameter.emptyFields, name.rawValue)
    }

    /// - Parameter options: values and their names.
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
                            [Attribute("value", option.value)]
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
