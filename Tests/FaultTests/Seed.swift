import Fixtures

/// The source of all random choices in a case. Each failure names it, and `MARTLET_FAULTS_SEED` repeats a case with the
/// same choices.
struct Seed: Sendable, CustomStringConvertible {
    var value = SeededGenerator.seedOfFaults

    var description: String { "MARTLET_FAULTS_SEED=\(value)" }

    /// Returns the random number at this position. It depends only on the seed, not on other draws.
    func draw(_ number: Int, in range: ClosedRange<Int>) -> Int {
        var generator = SeededGenerator(seed: value &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        return Int.random(in: range, using: &generator)
    }
}
