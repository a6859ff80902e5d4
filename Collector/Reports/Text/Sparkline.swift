/// Figures over time as a line of blocks, from 0 to the largest.
enum Sparkline {
    private static let blocks = Array("▁▂▃▄▅▆▇█")
    /// The largest figure that is told from larger ones. The sum of means cannot overflow.
    private static let most = 1e300
    /// Figures that make a trend.
    private static let fewest = 3

    /// Returns at most `width` blocks; neighbours share one if there are more figures. A figure that is no number counts as 0.
    static func text(_ figures: [Double], width: Int = 8) -> String {
        guard figures.count >= fewest else { return "too few" }
        let means = means(figures.map { $0.isNaN ? 0 : min(max(0, $0), most) }, width: width)
        let largest = means.max() ?? 0
        return String(means.map { block($0, of: largest) })
    }

    private static func block(_ figure: Double, of largest: Double) -> Character {
        guard largest > 0 else { return blocks[0] }
        return blocks[Int((figure / largest * Double(blocks.count - 1)).rounded())]
    }

    /// Returns the means of neighbours.
    private static func means(_ figures: [Double], width: Int) -> [Double] {
        guard figures.count > width else { return figures }
        return (0..<width).map { slot in
            let part = figures[slot * figures.count / width..<(slot + 1) * figures.count / width]
            return part.reduce(0) { $0 + $1 / Double(part.count) }
        }
    }
}
