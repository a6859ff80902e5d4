/// A chart with its axes. The labels of values stand in a picture of their own at the left, so that the area between them and
/// the right edge can be measured in per cent.
struct Plot {
    /// The room of the times below the area, in pixels.
    static let timesHeight = 20.0
    private static let (axisWidth, endsWidth) = (44.0, 46.0)

    /// A name at the end of a line.
    struct End: Sendable, Equatable {
        let label: String
        let y: Double
    }

    /// A sentence that says the same.
    let label: String
    /// The height of the whole, in pixels.
    let height: Double
    /// The labels of the vertical axis.
    var values: [(label: String, y: Double)] = []
    var ends: [End] = []
    /// A class of the area.
    var name = "area"
    /// The class of the whole: `wide-plot` for one that a narrow screen scrolls.
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

    /// Returns the names of lines at places that are at least `gap` pixels apart, in the order of their lines.
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
