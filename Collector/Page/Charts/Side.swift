import MartletReports
import MartletStorage
import MartletTelemetry

/// On whose side a request's time went, as its caller sees it.
enum Side: CaseIterable, Sendable {
    /// Before the transfer began.
    case ours
    /// The network and the machines on it.
    case way
    /// Waiting for the answer's first byte.
    case theirs

    var title: String {
        switch self {
        case .ours: "ours"
        case .way: "the way"
        case .theirs: "theirs"
        }
    }

    /// The class of its colour.
    var name: String {
        switch self {
        case .ours: "p-ours"
        case .way: "p-way"
        case .theirs: "p-theirs"
        }
    }

    /// A pattern in the place of the colour.
    var fill: String? { self == .way ? "url(#hatch)" : nil }

    var phases: [RequestPhase] {
        switch self {
        case .ours: [.queue]
        case .way: [.dns, .connect, .tls, .transfer]
        case .theirs: [.firstByte]
        }
    }
}

/// The mean time of requests by side, in milliseconds.
struct SideMeans: Sendable, Equatable {
    let means: [Side: Double]
    /// The share of requests that opened a connection, 0...1.
    let connected: Double

    var sum: Double { means.values.reduce(0, +) }

    /// The means over all requests whose phases are known. A request without a phase spent no time in it, so the sides add up.
    /// Creates nothing if no phases are known.
    init?(_ phases: PhaseTotals) {
        guard let count = RequestPhase.allCases.map({ phases[$0].count }).max(), count > 0 else { return nil }
        func mean(_ phase: RequestPhase) -> Double { phases[phase].seconds * 1000 / Double(count) }
        means = Dictionary(
            uniqueKeysWithValues: Side.allCases.map { side in (side, side.phases.reduce(0) { $0 + mean($1) }) })
        connected = Double(phases[.connect].count) / Double(count)
    }

    subscript(side: Side) -> Double { means[side] ?? 0 }
}
