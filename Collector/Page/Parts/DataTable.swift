/// A table whose rows become cards on a narrow screen. The roles keep it a table for screen readers there.
enum DataTable {
    /// - Parameters:
    ///   - name: the classes of the table.
    ///   - heading: the id of the element that names the table.
    static func html(_ name: String, heading: String, @HTMLBuilder content: () -> HTML) -> HTML {
        element(
            "div", .class("scroll"), Attribute("tabindex", "0"), .role("region"), Attribute("aria-labelledby", heading)
        ) { element("table", .class(name), .role("table"), content: content) }
    }

    static func head(@HTMLBuilder cells: () -> HTML) -> HTML {
        element("thead", .role("rowgroup")) { row(cells: cells) }
    }

    static func body(@HTMLBuilder rows: () -> HTML) -> HTML { element("tbody", .role("rowgroup"), content: rows) }

    static func foot(@HTMLBuilder rows: () -> HTML) -> HTML { element("tfoot", .role("rowgroup"), content: rows) }

    static func row(@HTMLBuilder cells: () -> HTML) -> HTML { element("tr", .role("row"), content: cells) }

    /// The title of a column.
    static func title(_ name: String, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML) -> HTML {
        element("th", [Attribute("scope", "col"), .role("columnheader"), .class(name)] + attributes, content: content)
    }

    static func title(_ name: String, _ text: String) -> HTML { title(name) { text } }

    /// The cell that names a row.
    static func name(@HTMLBuilder content: () -> HTML) -> HTML {
        element("th", Attribute("scope", "row"), .role("rowheader"), .class("first"), content: content)
    }

    /// - Parameter label: the column's title, which a card shows beside the figure.
    static func cell(_ label: String, _ name: String = "", @HTMLBuilder content: () -> HTML) -> HTML {
        element(
            "td", [.role("cell"), Attribute("data-label", label)] + (name.isEmpty ? [] : [.class(name)]),
            content: content)
    }
}
