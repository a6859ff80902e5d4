import Foundation
import MartletReports
import MartletTelemetry

/// Boxes and the edges between them. Each text is short, plain and cut to fit, because SVG does not wrap lines.
struct MapPicture {
    /// The texts of a box and the address that it links to.
    struct Label: Sendable {
        var name: String
        var lines: [String]
        var isBad: Bool
        /// Whether the place has an agent.
        var isWatched: Bool
        var address: PageAddress?
    }

    /// The text at the start of an edge, and its number of requests, which determines the width of its line.
    struct EdgeLabel: Sendable {
        var text: String
        var count: UInt64
        var isBad: Bool
    }

    /// The position of the texts in a box, and the space at their end, in pixels.
    private static let (indent, margin) = (14.0, 6.0)
    /// The font sizes in the style sheet, in pixels.
    private static let (nameSize, lineSize, edgeSize) = (14.0, 12.0, 13.0)
    /// The distance between a line that passes over boxes and the columns to the right of its vertical parts, in pixels.
    private static let channel = 16.0

    let layout: MapLayout
    /// The texts of the layout's boxes, in their order.
    let labels: [Label]
    /// The texts of the layout's wires, in their order.
    let edges: [EdgeLabel]

    var html: HTML {
        let (width, height) = (SVG.number(layout.width), SVG.number(layout.height))
        return element(
            "svg", .class("map"), Attribute("viewBox", "0 0 \(width) \(height)"), Attribute("width", width),
            Attribute("height", height), .role("group"), .label("Who calls whom; the table below has the same data")
        ) {
            // The first edges are the worst. They are drawn last, so that no other line covers them.
            element("g", .class("edges")) {
                for (wire, edge) in zip(layout.wires, edges).reversed() { line(wire, edge) }
            }
            for (box, label) in zip(layout.boxes, labels) { node(box, label) }
            for (wire, edge) in zip(layout.wires, edges) { text(wire, edge) }
        }
    }

    // MARK: Edges

    private func line(_ wire: MapLayout.Wire, _ edge: EdgeLabel) -> HTML {
        let bad = edge.isBad ? " badedge" : ""
        // Ten times as many requests add 0.7 pixels.
        let width = min(6, 1 + log10(Double(max(1, edge.count))) * 0.7)
        return HTML.joined([
            element(
                "path", .class("edge" + bad), Attribute("d", course(wire)), Attribute("fill", "none"),
                Attribute("stroke-width", SVG.number(width))
            ) {},
            element(
                "path", .class("tip" + bad),
                Attribute("d", "M\(SVG.number(wire.x2 - 1)) \(SVG.number(wire.y2))l-9 -5v10Z")
            ) {},
        ])
    }

    /// Returns a curve with horizontal ends, so that the line does not touch its text. A line that does not lead to the right
    /// passes over both boxes.
    private func course(_ wire: MapLayout.Wire) -> String {
        let (x1, y1, y2, end) = (wire.x1, SVG.number(wire.y1), SVG.number(wire.y2), SVG.number(wire.x2 - 8))
        if let crest = wire.crest {
            let (up, down) = (x1 + MapLayout.gap - Self.channel, wire.x2 - Self.channel)
            return "M\(SVG.number(x1)) \(y1)H\(SVG.number(up))V\(SVG.number(crest))H\(SVG.number(down))V\(y2)H\(end)"
        }
        let reach = 0.8 * (wire.x2 - 8 - x1)
        return
            "M\(SVG.number(x1)) \(y1)C\(SVG.number(x1 + reach)) \(y1) \(SVG.number(wire.x2 - 8 - reach)) \(y2) \(end) \(y2)"
    }

    /// The text is above the start of its line. No two lines start at the same place.
    private func text(_ wire: MapLayout.Wire, _ edge: EdgeLabel) -> HTML {
        text(
            edge.isBad ? "en halo badtext" : "en halo", wire.x1 + 6, wire.y1 - 7,
            EstimatedTextWidth.cut(edge.text, to: (MapLayout.gap - 2 * Self.channel) / Self.edgeSize, isBold: true))
    }

    // MARK: Boxes

    private func node(_ box: MapLayout.Box, _ label: Label) -> HTML {
        let content = HTML.joined(
            [
                element("title") { TerminalText.plain(label.name) },
                element(
                    "rect",
                    [
                        .class("node"), Attribute("x", SVG.number(box.x)), Attribute("y", SVG.number(box.y)),
                        Attribute("width", SVG.number(MapLayout.boxWidth)),
                        Attribute("height", SVG.number(box.height)), Attribute("rx", "7"),
                    ] + (label.isWatched ? [] : [Attribute("stroke-dasharray", "4 3")])
                ) {},
                text("nt", box.x + Self.indent, box.y + 25, cut(label.name, Self.nameSize, isBold: true)),
            ]
                + label.lines.enumerated().map { index, line in
                    text(
                        label.isBad && index == label.lines.count - 1 ? "ns badtext" : "ns", box.x + Self.indent,
                        box.y + 44 + 17 * Double(index), cut(line, Self.lineSize))
                })
        return label.address.map { link($0) { content } } ?? element("g") { content }
    }

    private func cut(_ text: String, _ size: Double, isBold: Bool = false) -> String {
        EstimatedTextWidth.cut(
            TerminalText.plain(text.cut(toBytes: 512)),
            to: (MapLayout.boxWidth - Self.indent - Self.margin) / size, isBold: isBold)
    }

    /// - Parameter words: plain text. An HTML element inside it would end the picture.
    private func text(_ name: String, _ x: Double, _ y: Double, _ words: String) -> HTML {
        element("text", .class(name), Attribute("x", SVG.number(x)), Attribute("y", SVG.number(y))) {
            TerminalText.plain(words)
        }
    }
}

/// The widths of letters in a picture, in multiples of the font size. The server does not know the browser's font, so these are
/// the widths of DejaVu Sans, rounded up. Few sans-serif fonts are wider.
enum EstimatedTextWidth {
    /// The maximum number of columns of a text.
    private static let maxColumns = 60
    /// Bold letters are wider by this factor.
    private static let bold = 1.12
    private static let widths: [(letters: Set<Character>, width: Double)] = [
        (Set("ijl.,:;'| "), 0.34), (Set("frtI-/()[]!"), 0.42), (Set("cs"), 0.56), (Set("mwMW@%"), 1),
    ]

    /// Returns the text. If it is too wide, returns as much of its beginning and its end as fits. The end is long enough for a
    /// port.
    static func cut(_ text: String, to width: Double, isBold: Bool) -> String {
        (1...maxColumns).reversed().lazy.map { TextWidth.cut(text, to: $0) }.first {
            ems($0, isBold: isBold) <= width
        }
            ?? "…"
    }

    private static func ems(_ text: String, isBold: Bool) -> Double {
        text.reduce(0) { $0 + ems($1) } * (isBold ? bold : 1)
    }

    private static func ems(_ letter: Character) -> Double {
        guard letter.isASCII else { return letter == "…" ? 1 : 1.3 }
        if let known = widths.first(where: { $0.letters.contains(letter) }) { return known.width }
        return letter.isLowercase || letter.isNumber || letter == "_" ? 0.64 : 0.84
    }
}
