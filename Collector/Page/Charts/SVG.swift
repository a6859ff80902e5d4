import MartletReports

/// Parts of pictures. Only the files in this folder create SVG. Colours and strokes are classes of the style sheet, because the
/// page's security policy ignores styles in attributes.
enum SVG {
    /// Returns a number for an attribute: at most four digits, and 0 for a value that is not a number.
    static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e6 else { return "0" }
        let rounded = (value * 100).rounded() / 100
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    static func percent(_ share: Double) -> String { number(share * 100) + "%" }

    /// Returns a picture that fills the width of its place.
    static func wide(
        _ name: String, height: Double, _ attributes: Attribute..., @HTMLBuilder content: () -> HTML
    ) -> HTML {
        element(
            "svg", [.class(name), Attribute("width", "100%"), Attribute("height", number(height))] + attributes,
            content: content)
    }

    /// A bar. `x` and `width` are shares of the picture's width, `y` and `height` are pixels.
    static func rect(
        _ name: String, x: Double = 0, y: Double = 0, width: Double, height: Double, radius: Double = 0
    ) -> HTML {
        var attributes: [Attribute] = [.class(name)]
        if x != 0 { attributes.append(Attribute("x", percent(x))) }
        if y != 0 { attributes.append(Attribute("y", number(y))) }
        attributes += [Attribute("width", percent(width)), Attribute("height", number(height))]
        if radius > 0 { attributes.append(Attribute("rx", number(radius))) }
        return element("rect", attributes) {}
    }

    /// A line through points. `x` is a share of the picture's width times 100, `y` is in pixels. The stroke keeps its width
    /// even if the picture is stretched.
    static func line(
        _ points: [(x: Double, y: Double)], class name: String? = nil, dash: String? = nil, width: String = "1.5"
    ) -> HTML {
        var attributes = [
            Attribute("points", points.map { number($0.x) + "," + number($0.y) }.joined(separator: " ")),
            Attribute("fill", "none"), Attribute("stroke", "currentColor"), Attribute("stroke-width", width),
            Attribute("vector-effect", "non-scaling-stroke"),
        ]
        if let name { attributes.insert(.class(name), at: 0) }
        if let dash { attributes.append(Attribute("stroke-dasharray", dash)) }
        return element("polyline", attributes) {}
    }

    /// Text that keeps its size. `x` is a share of the picture's width.
    static func text(
        _ text: String, x: Double, y: Double, anchor: Anchor = .start, class name: String? = nil
    ) -> HTML {
        element(
            "text",
            (name.map { [.class($0)] } ?? []) + [
                Attribute("x", percent(x)), Attribute("y", number(y)), Attribute("text-anchor", anchor.rawValue),
            ]
        ) {
            // The text of a picture may not contain an element, not even one around a code.
            TerminalText.plain(text)
        }
    }

    /// How a text is aligned with its position.
    enum Anchor: String {
        case start, middle, end
    }

    /// A line across the whole picture. `y` is in pixels.
    static func across(_ name: String, y: Double) -> HTML {
        element(
            "line", .class(name), Attribute("x1", "0"), Attribute("x2", "100%"), Attribute("y1", number(y)),
            Attribute("y2", number(y))
        ) {}
    }

    /// A dashed line from top to bottom. `x` is a share of the picture's width.
    static func upright(_ name: String, x: Double, height: Double) -> HTML {
        element(
            "line", .class(name), Attribute("x1", percent(x)), Attribute("x2", percent(x)), Attribute("y1", "0"),
            Attribute("y2", number(height)), Attribute("stroke-dasharray", "3 3")
        ) {}
    }

    /// The tooltip of a part of the picture.
    static func title(_ text: String) -> HTML { element("title") { text } }
}
