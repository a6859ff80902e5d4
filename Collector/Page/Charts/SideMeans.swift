import MartletReports
import MartletStorage
import MartletTelemetry

/// The mean time of requests by side, in milliseconds.
struct SideMeans: Sendable, Equatable {
    private let means: [PhaseSide: Double]
    /// The share of requests that opened a connection, 0...1.
    let connected: Double

    var sum: Double { means.values.reduce(0, +) }

    /// The means over all requests whose phases are known. A request without a phase spent no time in it, so the sides add up.
    /// Creates nothing if no phases are known.
    init?(_ phases: PhaseTotals) {
        guard let count = RequestPhase.allCases.map({ phases[$0].count }).max(), count > 0 else { return nil }
        func mean(_ phase: RequestPhase) -> Double { phases[phase].seconds * 1000 / Double(count) }
        means = Dictionary(
            RequestPhase.allCases.map { (PhaseSide($0), mean($0)) }, uniquingKeysWith: +)
        connected = Double(phases[.connect].count) / Double(count)
    }

    subscript(side: PhaseSide) -> Double { means[side] ?? 0 }
}
