import Foundation
import MartletTelemetry

/// A request's time as a bar: the part that its own service spent, the way to the server and back, and the server.
enum PhaseBar {
    static let legend = "\(PhaseSide.ours.sign) ours  \(PhaseSide.way.sign) the way  \(PhaseSide.theirs.sign) theirs"
    /// The sign for time that no phase tells of.
    private static let untold: Character = "·"
    /// The legend of bars beside each other, some of which may have such time.
    static let legendOfList = "\(legend)  \(untold) not told"

    /// Characters of the longest bar.
    private static let width = 30.0
    /// Milliseconds of the longest bar: five minutes, after which a request counts as hung.
    private static let longest = 300_000.0

    /// Returns a bar whose length is the logarithm of the duration; empty if the phases are not known.
    static func text(of request: RequestSummary) -> String {
        guard let waterfall = PhaseWaterfall(request), waterfall.scale > 0 else { return "" }
        let times = Dictionary(waterfall.bars.map { ($0.side, $0.length) }, uniquingKeysWith: +).filter { $0.value > 0 }
        let untold = waterfall.scale - times.values.reduce(0, +)
        let length = max(1, (width * min(1, log(1 + waterfall.scale) / log(1 + longest))).rounded())
        func part(_ sign: Character, _ time: Double) -> String {
            String(repeating: sign, count: max(1, Int((length * time / waterfall.scale).rounded())))
        }
        return PhaseSide.allCases.reduce(into: "") { bar, side in
            if let time = times[side] { bar += part(side.sign, time) }
        } + (untold > waterfall.scale / 100 ? part(Self.untold, untold) : "")
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
