import Foundation

/// Times around a median, never below zero and with a long tail: the larger the spread, the longer.
struct LogNormal: Sendable {
    let median: Duration
    let spread: Double

    func draw(from generator: inout some RandomNumberGenerator) -> Duration {
        median * exp(spread * standardNormal(from: &generator))
    }

    /// The Box–Muller transform.
    private func standardNormal(from generator: inout some RandomNumberGenerator) -> Double {
        let radius = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)
        let angle = Double.random(in: 0..<1, using: &generator)
        return (-2 * log(radius)).squareRoot() * cos(2 * .pi * angle)
    }
}
