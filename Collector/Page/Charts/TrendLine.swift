/// A figure over time as a line without axes, from the smallest to the largest.
enum TrendLine {
    /// Figures that make a trend.
    private static let fewest = 3
    private static let margin = 1.5

    /// - Parameters:
    ///   - figures: one for each slot; `nil` for a slot without the figure, which the line leaves out.
    ///   - label: a sentence that says the same.
    static func html(_ figures: [Double?], height: Double, label: String) -> HTML {
        let known = figures.compactMap { $0 }.filter(\.isFinite)
        guard known.count >= fewest, let least = known.min(), let most = known.max() else {
            return element("span", .class("zero")) { "too few" }
        }
        let steps = Double(max(1, figures.count - 1))
        let points = figures.enumerated().compactMap { slot, figure -> (x: Double, y: Double)? in
            guard let figure, figure.isFinite else { return nil }
            let share = most > least ? (figure - least) / (most - least) : 0.5
            return (100 * Double(slot) / steps, height - margin - share * (height - 2 * margin))
        }
        return SVG.wide(
            "spark", height: height, Attribute("viewBox", "0 0 100 \(SVG.number(height))"),
            Attribute("preserveAspectRatio", "none"), .role("img"), .label(label)
        ) { SVG.line(points) }
    }
}
