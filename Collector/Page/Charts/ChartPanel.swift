import MartletReports
import MartletStorage

/// A chart with its title, the legend of its colours, and its data as a table.
struct ChartPanel {
    /// The id of the title.
    let id: String
    let title: String
    /// A unit or another word next to the title.
    var note = ""
    let legend: [Key]
    /// A word after the legend.
    var unit = ""
    let table: ChartTable

    /// A legend entry: a symbol of the chart and its name.
    struct Key {
        let sign: HTML
        let name: String

        static func area(_ name: String, _ text: String, width: Double = 12) -> Key {
            Key(sign: picture(width: width) { SVG.rect(name, width: 1, height: 12, radius: 2) }, name: text)
        }

        static func side(_ side: PhaseSide) -> Key {
            Key(
                sign: picture(width: 12) { SideStyle.bar(side, x: 0, width: 1, height: 12, radius: 2) },
                name: SideStyle.name(of: side))
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

/// The data of a chart as a table with a row for each time slot.
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

/// A chart with its axes. The labels of values are in a separate picture at the left, so that positions in the chart's area can
/// be percentages of its width.
struct Plot {
    /// The height of the times below the area, in pixels.
    static let timesHeight = 20.0
    private static let (axisWidth, endsWidth) = (44.0, 46.0)

    /// The name at the end of a line.
    struct End: Sendable, Equatable {
        let label: String
        let y: Double
    }

    /// A sentence that describes the chart.
    let label: String
    /// The total height, in pixels.
    let height: Double
    /// The labels of the vertical axis.
    var values: [(label: String, y: Double)] = []
    var ends: [End] = []
    /// The CSS class of the area.
    var name = "area"
    /// The CSS class of the whole chart: `wide-plot` scrolls on a narrow screen.
    var frame = "plot"

    func html(@HTMLBuilder area: () -> HTML) -> HTML {
        element("div", .class(frame)) {
            side("yaxis", Self.axisWidth) {
                for value in values {
                    SVG.text(value.label, x: 36 / Self.axisWidth, y: value.y + 4, anchor: .end)
                }
            }
            SVG.wide(name, height: height, .role(name == "area" ? "img" : "group"), .label(label)) {
                for value in values { SVG.across("grid", y: value.y) }
                area()
            }
            if !ends.isEmpty {
                side("ends", Self.endsWidth) {
                    for end in ends { SVG.text(end.label, x: 6 / Self.endsWidth, y: end.y + 4) }
                }
            }
        }
    }

    private func side(_ name: String, _ width: Double, @HTMLBuilder content: () -> HTML) -> HTML {
        element(
            "svg",
            [.class(name), Attribute("width", SVG.number(width)), Attribute("height", SVG.number(height)), .hidden],
            content: content)
    }

    /// Moves the names of lines apart, so that they are at least `gap` pixels from each other. Returns them in the order of their
    /// lines.
    static func spread(_ ends: [End], gap: Double, within height: Double) -> [End] {
        var spread = ends.sorted { $0.y < $1.y }
        for index in spread.indices.dropFirst() {
            let least = spread[index - 1].y + gap
            if spread[index].y < least { spread[index] = End(label: spread[index].label, y: least) }
        }
        let excess = max(0, (spread.last?.y ?? 0) - height)
        return spread.map { End(label: $0.label, y: $0.y - excess) }
    }
}

/// The smallest and the largest figure in words: `from 0.2 to 1.4 ms`.
enum RangeText {
    /// Returns `nil` if no figure is known.
    static func text(
        _ figures: [Double?], _ unit: String, figure: (Double) -> String = { FigureText.figure($0) }
    ) -> String? {
        let known = figures.compactMap { $0 }
        guard let least = known.min(), let most = known.max() else { return nil }
        return "from \(figure(least)) to \(figure(most))\(unit)"
    }
}

/// A figure over time as a line, with gaps where it is unknown. Lines differ by their dashes, and have their names at their ends.
struct TimeLine: Sendable {
    /// The CSS class.
    let name: String
    let label: String
    let dash: String?
    /// One for each slot.
    let figures: [Double?]

    var isEmpty: Bool { figures.allSatisfy { $0 == nil } }

    var key: ChartPanel.Key { .line(name, label, dash: dash) }

    /// The name at the line's end; `nil` for a line without points.
    func end(_ scale: ValueScale) -> Plot.End? {
        figures.last { $0 != nil }?.map { Plot.End(label: label, y: scale.y($0)) }
    }

    /// - Parameters:
    ///   - slots: the time of each figure.
    ///   - height: the height of the chart's area, in pixels.
    func html(_ slots: [TimeWindow], _ axis: TimeAxis, _ scale: ValueScale, height: Double) -> HTML {
        HTML.joined(runs(slots, axis, scale).map { stretch($0, height: height) })
    }

    /// A line through a run of slots that all have figures, in a picture stretched to the width. A single slot is a short line.
    private func stretch(_ points: [(x: Double, y: Double)], height: Double) -> HTML {
        let lone = points.count == 1 ? [(points[0].x + 0.8, points[0].y)] : []
        return element(
            "svg", Attribute("width", "100%"), Attribute("height", SVG.number(height)),
            Attribute("viewBox", "0 0 100 \(SVG.number(height))"), Attribute("preserveAspectRatio", "none")
        ) { SVG.line(points + lone, class: name, dash: dash, width: "2") }
    }

    /// The points of each run of slots with figures, in the middle of their slots.
    private func runs(
        _ slots: [TimeWindow], _ axis: TimeAxis, _ scale: ValueScale
    ) -> [[(x: Double, y: Double)]] {
        var runs: [[(x: Double, y: Double)]] = [[]]
        for (slot, figure) in zip(slots, figures) {
            if let figure {
                runs[runs.count - 1].append((100 * (axis.x(slot.from) + axis.x(slot.to)) / 2, scale.y(figure)))
            } else if runs.last?.isEmpty == false {
                runs.append([])
            }
        }
        return runs.filter { !$0.isEmpty }
    }
}
