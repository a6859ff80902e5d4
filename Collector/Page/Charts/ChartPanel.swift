import MartletReports

/// A chart with its title, the meaning of its colours, and its data as a table.
struct ChartPanel {
    /// The id of the title.
    let id: String
    let title: String
    /// A unit or another word beside the title.
    var note = ""
    let legend: [Key]
    /// A word behind the legend.
    var unit = ""
    let table: ChartTable

    /// A sign of a chart and its name.
    struct Key {
        let sign: HTML
        let name: String

        static func area(_ name: String, _ text: String, width: Double = 12) -> Key {
            Key(sign: picture(width: width) { SVG.rect(name, width: 1, height: 12, radius: 2) }, name: text)
        }

        static func side(_ side: PhaseSide) -> Key {
            Key(
                sign: picture(width: 12) { SideShape.bar(side, x: 0, width: 1, height: 12, radius: 2) },
                name: SideShape.name(of: side))
        }

        static func line(_ name: String, _ text: String, dash: String?) -> Key {
            Key(
                sign: picture(width: 26) {
                    SVG.line([(1, 6), (25, 6)], class: name, dash: dash)
                }, name: text)
        }

        private static func picture(width: Double, @HTMLBuilder content: () -> HTML) -> HTML {
            element(
                "svg", [Attribute("width", SVG.number(width)), Attribute("height", "12"), .hidden], content: content)
        }
    }

    func html(@HTMLBuilder plot: () -> HTML) -> HTML {
        let content = plot()
        return element("figure", .class("panel"), Attribute("aria-labelledby", id)) {
            element("figcaption") {
                element("h2", .id(id)) {
                    title
                    if !note.isEmpty {
                        " "
                        element("small") { note }
                    }
                }
                element("p", .class("legend")) {
                    for key in legend {
                        element("span") {
                            key.sign
                            key.name
                        }
                    }
                    if !unit.isEmpty { " \(unit)" }
                }
            }
            content
            table.html
        }
    }
}

/// The data of a chart as a table: a row for each slot of time.
struct ChartTable {
    let caption: String
    let columns: [String]
    let rows: [Row]

    struct Row {
        let name: String
        /// The requests of the slot.
        let address: PageAddress
        /// A cell for each column.
        let cells: [HTML]
    }

    var html: HTML {
        element("details", .class("data")) {
            element("summary") { "Data as a table" }
            element("div", .class("scroll"), Attribute("tabindex", "0"), .role("region"), .label(caption)) {
                element("table", .class("grid")) {
                    element("caption") { caption }
                    element("thead") {
                        element("tr") {
                            for column in ["Time"] + columns { element("th", Attribute("scope", "col")) { column } }
                        }
                    }
                    element("tbody") { for row in rows { html(row) } }
                }
            }
        }
    }

    private func html(_ row: Row) -> HTML {
        element("tr") {
            element("th", Attribute("scope", "row")) { link(row.address) { row.name } }
            for cell in row.cells { element("td") { cell } }
        }
    }
}
