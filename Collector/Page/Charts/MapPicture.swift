import Foundation
import MartletReports
import MartletTelemetry

/// Boxes and the edges between them. Each text is short, plain and cut, because SVG does not break lines.
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

    /// The numbers at the beginning and the end of an edge, and between them the faults that need attention.
    struct Numbers: Sendable {
        var count: UInt64
        var sent: String?
        var arrived: String?
        var fault: String?
        var isFailing: Bool
    }

    /// The position of the texts in a box, and the space at their end, in pixels.
    private static let (indent, margin) = (14.0, 6.0)
    /// The font sizes in the style sheet, in pixels.
    private static let (nameSize, lineSize, countSize) = (14.0, 12.0, 13.0)
    /// The distances of the counts from the beginning and from the end of their edge, in pixels.
    private static let (start, end) = (6.0, 14.0)
    /// The distance of the counts from their edge, and the distance from the boxes of an edge that does not lead to the right, in
    /// pixels.
    private static let (above, loopReach) = (7.0, 70.0)

    let layout: MapLayout
    /// The texts of the layout's boxes, in their order.
    let labels: [Label]
    /// The texts of the layout's wires, in their order.
    let numbers: [Numbers]

    var html: HTML {
        // An edge that does not lead to the right reaches past the boxes.
        let side = layout.wires.allSatisfy { $0.course == .forward } ? 1 : Self.loopReach
        let (width, height) = (SVG.number(layout.width + 2 * side), SVG.number(layout.height))
        return element(
            "svg", .class("map"), Attribute("viewBox", "\(SVG.number(-side)) 0 \(width) \(height)"),
            Attribute("width", width), Attribute("height", height), .role("group"),
            .label("Who calls whom; the table below has the same data")
        ) {
            element("g", .class("edges")) {
                for (wire, numbers) in zip(layout.wires, numbers) { edge(wire, numbers) }
            }
            for (box, label) in zip(layout.boxes, labels) { node(box, label) }
            for (wire, numbers) in zip(layout.wires, numbers) { counts(wire, numbers) }
            for fault in faults { fault }
        }
    }

    // MARK: Edges

    private func edge(_ wire: MapLayout.Wire, _ numbers: Numbers) -> HTML {
        let bad = numbers.isFailing ? " badedge" : ""
        // Ten times as many requests add 0.7 pixels.
        let width = min(6, 1 + log10(Double(max(1, numbers.count))) * 0.7)
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

    private func course(_ wire: MapLayout.Wire) -> String {
        let end = wire.x2 - 8
        // The ends are horizontal, so that the line does not touch the numbers next to them.
        let reach = wire.course == .forward ? 0.8 * (end - wire.x1) : Self.loopReach
        let points = [
            (wire.x1, wire.y1), (wire.x1 + reach, bend(wire, wire.y1)), (end - reach, bend(wire, wire.y2)),
            (end, wire.y2),
        ].map { SVG.number($0.0) + " " + SVG.number($0.1) }
        return "M\(points[0])C\(points[1]) \(points[2]) \(points[3])"
    }

    /// Returns the height of a control point for an end of an edge. A cubic curve goes three quarters of the way to its control
    /// points.
    private func bend(_ wire: MapLayout.Wire, _ y: Double) -> Double {
        wire.course == .forward ? y : (wire.crest - y / 4) / 0.75
    }

    /// The counts are above the ends of their edge, so that counts of neighbouring edges do not touch.
    private func counts(_ wire: MapLayout.Wire, _ numbers: Numbers) -> HTML {
        HTML.joined([
            numbers.sent.map { text("en halo", wire.x1 + Self.start, wire.y1 - Self.above, $0) } ?? .none,
            numbers.arrived.map { text("en halo", wire.x2 - Self.end, wire.y2 - Self.above, $0, anchor: "end") }
                ?? .none,
        ])
    }

    /// The texts about faults. None of them covers an earlier one.
    private var faults: [HTML] {
        var taken = layout.boxes.map { TextFrame(x: $0.x, y: $0.y, width: MapLayout.boxWidth, height: $0.height) }
        var texts: [HTML] = []
        for (wire, numbers) in zip(layout.wires, numbers) {
            guard let words = numbers.fault else { continue }
            let width = Self.width(words, Self.lineSize) + 20
            let place = FaultPlace(
                wire, width: width,
                counts: (
                    numbers.sent.map { Self.start + Self.width($0, Self.countSize) } ?? 0,
                    numbers.arrived.map { Self.end + Self.width($0, Self.countSize) } ?? 0
                )
            ).free(of: taken, wire, width: width)
            taken.append(place.frame(width))
            texts.append(fault(words, place, width: width))
        }
        return texts
    }

    private func fault(_ words: String, _ place: FaultPlace, width: Double) -> HTML {
        let frame = place.frame(width)
        return HTML.joined([
            element(
                "rect", .class("lost"), Attribute("x", SVG.number(frame.x)), Attribute("y", SVG.number(frame.y)),
                Attribute("width", SVG.number(width)), Attribute("height", SVG.number(frame.height)),
                Attribute("rx", SVG.number(FaultPlace.halfHeight))
            ) {},
            text("lt", place.x, place.y + 4, words, anchor: "middle"),
        ])
    }

    private static func width(_ text: String, _ size: Double) -> Double { LetterWidth.of(text, isBold: true) * size }

    // MARK: Boxes

    private func node(_ box: MapLayout.Box, _ label: Label) -> HTML {
        let content = HTML.joined(
            [
                element("title") { TerminalText.plain(label.name) },
                element(
                    "rect",
                    [
                        .class(label.isWatched ? "node" : "node host"), Attribute("x", SVG.number(box.x + 0.5)),
                        Attribute("y", SVG.number(box.y + 0.5)),
                        Attribute("width", SVG.number(MapLayout.boxWidth - 1)),
                        Attribute("height", SVG.number(box.height - 1)), Attribute("rx", "7"),
                    ] + (label.isWatched ? [] : [Attribute("stroke-dasharray", "4 3")])
                ) {},
                text("nt", box.x + Self.indent, box.y + 25, cut(label.name, Self.nameSize, isBold: true)),
            ]
                + label.lines.enumerated().map { index, line in
                    text(
                        label.isBad && index == label.lines.count - 1 ? "ns badtext" : "ns", box.x + Self.indent,
                        box.y + 44 + 17 * Double(index), cut(line, Self.lineSize))
                })
        guard let address = label.address else { return element("g") { content } }
        return link(address) { content }
    }

    private func cut(_ text: String, _ size: Double, isBold: Bool = false) -> String {
        LetterWidth.cut(
            TerminalText.plain(text.cut(toBytes: 512)),
            to: (MapLayout.boxWidth - Self.indent - Self.margin) / size, isBold: isBold)
    }

    /// - Parameter words: a plain text. An element inside it would end the picture.
    private func text(_ name: String, _ x: Double, _ y: Double, _ words: String, anchor: String? = nil) -> HTML {
        let attributes = [.class(name), Attribute("x", SVG.number(x)), Attribute("y", SVG.number(y))]
        return element("text", attributes + (anchor.map { [Attribute("text-anchor", $0)] } ?? [])) {
            TerminalText.plain(words)
        }
    }
}

/// The middle of the text about an edge's faults. It is on the line if counts, boxes and other texts leave room there.
struct FaultPlace: Equatable {
    /// Half the height of the text's frame, in pixels.
    static let halfHeight = 12.0
    /// The height from a line to the counts, which are above its ends.
    private static let clearance = 3.0
    /// In pixels. A line that rises or falls by more than this leads away from the counts.
    private static let steep = 60.0

    var x: Double
    var y: Double

    /// - Parameters:
    ///   - width: the width of the text's frame.
    ///   - counts: the widths of the counts at the line's beginning and at its end.
    init(_ wire: MapLayout.Wire, width: Double, counts: (start: Double, end: Double)) {
        guard wire.course == .forward else {
            (x, y) = ((wire.x1 + wire.x2) / 2, wire.crest)
            return
        }
        let middle = (x: (wire.x1 + wire.x2) / 2, y: (wire.y1 + wire.y2) / 2)
        let (least, most) = (wire.x1 + counts.start + width / 2, wire.x2 - counts.end - width / 2)
        if abs(wire.y2 - wire.y1) > Self.steep {
            (x, y) = middle
        } else if least <= most {
            (x, y) = (min(max(middle.x, least), most), middle.y)
        } else {
            (x, y) = (middle.x, max(wire.y1, wire.y2) + Self.halfHeight - Self.clearance)
        }
    }

    /// Returns the first free place: this one, the one below the line's beginning, or one farther below.
    func free(of taken: [TextFrame], _ wire: MapLayout.Wire, width: Double) -> FaultPlace {
        var start = self
        (start.x, start.y) = (wire.x1 + 6 + width / 2, wire.y1 + Self.halfHeight - Self.clearance)
        let lower = (1...4).map { step in
            var place = start
            place.y += Double(step) * 2 * Self.halfHeight
            return place
        }
        return ([self, start] + lower).first { place in !taken.contains { $0.meets(place.frame(width)) } } ?? self
    }

    func frame(_ width: Double) -> TextFrame {
        TextFrame(x: x - width / 2, y: y - Self.halfHeight, width: width, height: 2 * Self.halfHeight)
    }
}

/// An occupied part of a picture, in pixels.
struct TextFrame: Equatable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    func meets(_ other: TextFrame) -> Bool {
        x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
    }
}

/// The widths of letters in a picture, in multiples of the font size. The server does not know the browser's font, so these are
/// the widths of DejaVu Sans, rounded up. Few sans-serif fonts are wider.
enum LetterWidth {
    /// The most columns of a text.
    private static let maxColumns = 60
    /// Bold letters are wider by this factor.
    private static let bold = 1.12
    private static let widths: [(letters: Set<Character>, width: Double)] = [
        (Set("ijl.,:;'| "), 0.34), (Set("frtI-/()[]!"), 0.42), (Set("cs"), 0.56), (Set("mwMW@%"), 1),
    ]

    /// Returns the text. If it is too wide, returns as much of its beginning and its end as fits. The end is long enough for a
    /// port.
    static func cut(_ text: String, to width: Double, isBold: Bool) -> String {
        (1...maxColumns).reversed().lazy.map { TextWidth.cut(text, to: $0) }.first { of($0, isBold: isBold) <= width }
            ?? "…"
    }

    static func of(_ text: String, isBold: Bool) -> Double {
        text.reduce(0) { $0 + of($1) } * (isBold ? bold : 1)
    }

    private static func of(_ letter: Character) -> Double {
        guard letter.isASCII else { return letter == "…" ? 1 : 1.3 }
        if let known = widths.first(where: { $0.letters.contains(letter) }) { return known.width }
        return letter.isLowercase || letter.isNumber || letter == "_" ? 0.64 : 0.84
    }
}
