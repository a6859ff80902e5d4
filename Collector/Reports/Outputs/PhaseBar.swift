import Foundation
import MartletTelemetry

/// A request's time as a bar: the part that its own service spent, the way to the server and back, and the server.
enum PhaseBar {
    static let legend = "\(PhaseSide.ours.sign) ours  \(PhaseSide.way.sign) the way  \(PhaseSide.theirs.sign) theirs"

    /// Characters of the longest bar.
    private static let width = 30.0
    /// Milliseconds of the longest bar: five minutes, after which a request counts as hung.
    private static let longest = 300_000.0

    /// Returns a bar whose length is the logarithm of the duration; empty if the phases are not known.
    ///
    /// - Parameters:
    ///   - phases: milliseconds by ``RequestPhase``.
    ///   - duration: milliseconds.
    static func text(_ phases: [String: Double], duration: Double) -> String {
        let times = phases.reduce(into: [PhaseSide: Double]()) { times, phase in
            if let side = RequestPhase(rawValue: phase.key).map(PhaseSide.init) {
                times[side, default: 0] += max(0, phase.value)
            }
        }
        let known = times.values.reduce(0, +)
        guard known > 0 else { return "" }
        let length = max(1, (width * min(1, log(1 + max(0, duration)) / log(1 + longest))).rounded())
        return PhaseSide.allCases.reduce(into: "") { bar, side in
            guard let time = times[side], time > 0 else { return }
            bar += String(repeating: side.sign, count: max(1, Int((length * time / known).rounded())))
        }
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
