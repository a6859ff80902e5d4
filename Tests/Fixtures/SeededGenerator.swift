import Foundation

/// Random numbers that are the same for the same seed (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator {
    /// The seed of all random faults of a run. `MARTLET_FAULTS_SEED` sets it, and `MARTLET_FAULTS=full` takes a fresh one.
    /// Otherwise it is always the same, so that only a change can make a run fail.
    package static let seedOfFaults: UInt64 = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["MARTLET_FAULTS_SEED"].flatMap(UInt64.init) { return seed }
        return environment["MARTLET_FAULTS"] == "full" ? .random(in: 0..<1_000_000) : 20_261_128
    }()
}
