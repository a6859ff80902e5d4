import Foundation

/// A distribution of times around a median, never below zero. A larger spread makes its tail longer.
struct LogNormal: Sendable {
    let median: Duration
    let spread: Double

    func draw(from generator: inout some RandomNumberGenerator) -> Duration {
        median * exp(spread * standardNormal(from: &generator))
    }

    /// Returns a standard normal value by the Box–Muller transform.
    private func standardNormal(from generator: inout some RandomNumberGenerator) -> Double {
        let radius = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)
        let angle = Double.random(in: 0..<1, using: &generator)
        return (-2 * log(radius)).squareRoot() * cos(2 * .pi * angle)
    }
}
