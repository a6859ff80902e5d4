import Foundation
import MartletTelemetry

/// A request's time as a bar: the part that its own service spent, the way to the server and back, and the server.
enum PhaseBar {
    /// The side that a phase's time belongs to.
    private enum Side: Character, CaseIterable {
        case ours = "░"
        case way = "▒"
        case theirs = "█"
    }

    static let legend = "\(Side.ours.rawValue) ours  \(Side.way.rawValue) the way  \(Side.theirs.rawValue) theirs"

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
        let times = phases.reduce(into: [Side: Double]()) { times, phase in
            if let side = RequestPhase(rawValue: phase.key).map(side) { times[side, default: 0] += max(0, phase.value) }
        }
        let known = times.values.reduce(0, +)
        guard known > 0 else { return "" }
        let length = max(1, (width * min(1, log(1 + max(0, duration)) / log(1 + longest))).rounded())
        return Side.allCases.reduce(into: "") { bar, side in
            guard let time = times[side], time > 0 else { return }
            bar += String(repeating: side.rawValue, count: max(1, Int((length * time / known).rounded())))
        }
    }

    private static func side(of phase: RequestPhase) -> Side {
        switch phase {
        case .queue: .ours
        case .dns, .connect, .tls, .transfer: .way
        case .firstByte: .theirs
        }
    }
}
