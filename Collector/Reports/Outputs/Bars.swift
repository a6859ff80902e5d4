import Foundation
import MartletTelemetry

/// A request's time as a bar with the parts of the client, of the network in both directions, and of the server.
enum PhaseBar {
    static let legend = "\(PhaseSide.ours.sign) client  \(PhaseSide.way.sign) network  \(PhaseSide.theirs.sign) server"
    /// The sign for time that no phase covers.
    private static let unknown: Character = "·"
    /// The legend of a list of bars, including the sign for time that no phase covers.
    static let legendOfList = "\(legend)  \(unknown) unknown"

    /// The width of the longest bar, in characters.
    private static let width = 30.0
    /// The duration of the longest bar, in milliseconds: five minutes, after which a request counts as hung.
    private static let longest = 300_000.0

    /// Returns a bar whose length is the logarithm of the duration; empty if the phases are unknown.
    static func text(of request: RequestSummary) -> String {
        guard let waterfall = PhaseWaterfall(request), waterfall.scale > 0 else { return "" }
        let times = Dictionary(waterfall.bars.map { ($0.side, $0.length) }, uniquingKeysWith: +).filter { $0.value > 0 }
        let unknown = waterfall.scale - times.values.reduce(0, +)
        let length = max(1, (width * min(1, log(1 + waterfall.scale) / log(1 + longest))).rounded())
        func part(_ sign: Character, _ time: Double) -> String {
            String(repeating: sign, count: max(1, Int((length * time / waterfall.scale).rounded())))
        }
        return PhaseSide.allCases.reduce(into: "") { bar, side in
            if let time = times[side] { bar += part(side.sign, time) }
        } + (unknown > waterfall.scale / 100 ? part(Self.unknown, unknown) : "")
    }
}

extension PhaseSide {
    /// The sign that fills a bar.
    var sign: Character {
        switch self {
        case .ours: "░"
        case .way: "▒"
        case .theirs: "█"
        }
    }
}

/// Figures over time as a line of blocks, from 0 to the largest.
enum Sparkline {
    private static let blocks = Array("▁▂▃▄▅▆▇█")
    /// The largest figure. Larger ones are drawn like it, so that sums cannot overflow.
    private static let most = 1e300
    /// The fewest figures that make a trend.
    private static let fewest = 3
    /// The most blocks.
    private static let width = 8

    /// Returns a block for each figure. If there are many figures, several neighbours share a block. A figure that is not a number
    /// counts as 0.
    static func text(_ figures: [Double]) -> String {
        guard figures.count >= fewest else { return "–" }
        let means = means(figures.map { $0.isNaN ? 0 : min(max(0, $0), most) })
        let largest = means.max() ?? 0
        return String(means.map { block($0, of: largest) })
    }

    private static func block(_ figure: Double, of largest: Double) -> Character {
        guard largest > 0 else { return blocks[0] }
        return blocks[Int((figure / largest * Double(blocks.count - 1)).rounded())]
    }

    /// Returns the means of neighbours.
    private static func means(_ figures: [Double]) -> [Double] {
        guard figures.count > width else { return figures }
        return (0..<width).map { slot in
            let part = figures[slot * figures.count / width..<(slot + 1) * figures.count / width]
            return part.reduce(0) { $0 + $1 / Double(part.count) }
        }
    }
}

/// A share as a bar of blocks, in eighths of a character.
enum ShareBar {
    private static let eighths = Array("▏▎▍▌▋▊▉█")
    private static let width = 3

    /// Returns a bar that is full for a share of `full`. A share above 0 gets at least an eighth.
    static func text(_ share: Double, full: Double) -> String {
        guard share > 0, full > 0 else { return "" }
        let filled = max(1, Int((min(share / full, 1) * Double(width * eighths.count)).rounded()))
        let (whole, rest) = filled.quotientAndRemainder(dividingBy: eighths.count)
        return String(repeating: eighths[eighths.count - 1], count: whole)
            + (rest > 0 ? String(eighths[rest - 1]) : "")
    }
}

/// A time axis from 0 to the end of its scale, drawn in a number of characters.
struct TimeAxis {
    /// The time at the end, in the unit of all times.
    let scale: Double
    let width: Int

    /// Returns the characters of a part of the time: at least one, and none that belongs to the next part.
    func characters(from start: Double, lasting length: Double) -> Range<Int> {
        let first = min(position(start), width - 1)
        return first..<max(first + 1, position(start + length))
    }

    private func position(_ time: Double) -> Int {
        guard scale > 0 else { return 0 }
        return Int((min(max(0, time / scale), 1) * Double(width)).rounded())
    }
}
