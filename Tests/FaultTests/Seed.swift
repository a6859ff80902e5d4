import Fixtures
import Foundation

/// What chance decides in a case is drawn from this, and it is named wherever a case fails. `MARTLET_FAULTS_SEED` repeats
/// a case with the same chances.
struct Seed: Sendable, CustomStringConvertible {
    let value: UInt64

    static func fresh() -> Seed {
        let asked = ProcessInfo.processInfo.environment["MARTLET_FAULTS_SEED"].flatMap { UInt64($0) }
        return Seed(value: asked ?? .random(in: 0..<1_000_000))
    }

    var description: String { "MARTLET_FAULTS_SEED=\(value)" }

    /// The draw of this number: always the same of the same seed, whatever was drawn before.
    func draw(_ number: Int, in range: ClosedRange<Int>) -> Int {
        var generator = SeededGenerator(seed: value &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        return Int.random(in: range, using: &generator)
    }
}
