import MartletReports

/// The look of the side on which time was spent: ours is solid, the way is hatched, theirs is plain.
enum SideShape {
    /// - Parameters:
    ///   - x: the share of the picture's width at which the bar begins; `width` is such a share too.
    ///   - y: the distance from the top in pixels; `height` is in pixels too.
    static func bar(
        _ side: PhaseSide, x: Double, y: Double = 0, width: Double, height: Double, radius: Double = 0
    ) -> HTML {
        shape(
            side,
            [
                Attribute("x", SVG.percent(x)), Attribute("y", SVG.number(y)),
                Attribute("width", SVG.percent(width)), Attribute("height", SVG.number(height)),
                Attribute("rx", SVG.number(radius)),
            ])
    }

    /// The names of the sides beside their looks.
    static var legend: HTML {
        element("p", .class("legend")) {
            for side in [PhaseSide.theirs, .way, .ours] {
                element("span") {
                    element("svg", Attribute("width", "12"), Attribute("height", "12"), .hidden) {
                        shape(
                            side,
                            [Attribute("width", "12"), Attribute("height", "12"), Attribute("rx", "2")])
                    }
                    name(of: side)
                }
            }
        }
    }

    static func name(of side: PhaseSide) -> String {
        switch side {
        case .ours: "ours"
        case .way: "the way"
        case .theirs: "theirs"
        }
    }

    /// The hatching is an attribute, because a style sheet cannot point to a pattern of the page.
    private static func shape(_ side: PhaseSide, _ place: [Attribute]) -> HTML {
        switch side {
        case .ours: element("rect", [.class("p-ours")] + place) {}
        case .way: element("rect", [.class("p-way"), Attribute("fill", "url(#hatch)")] + place) {}
        case .theirs: element("rect", [.class("p-theirs")] + place) {}
        }
    }
}
