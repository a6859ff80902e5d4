import Foundation

/// Random numbers from a seed (Steele, Lea and Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64
    private var spare: Double?

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 ^ 0x5851_f42d_4c95_7f2d }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number above 0 and up to 1.
    mutating func uniform() -> Double { Double((next() >> 11) + 1) * 0x1p-53 }

    mutating func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * uniform() }

    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    mutating func exponential() -> Double { -log(uniform()) }

    mutating func normal() -> Double {
        if let spare {
            self.spare = nil
            return spare
        }
        let (radius, angle) = ((2 * exponential()).squareRoot(), 2 * .pi * uniform())
        spare = radius * sin(angle)
        return radius * cos(angle)
    }

    /// Returns a share around 1/40, as a gamma of 1/2 among one of 20.
    mutating func jobShare() -> Double {
        let half = pow(normal(), 2) / 2
        let twenty = (0..<20).reduce(0.0) { sum, _ in sum + exponential() }
        return half / (half + twenty)
    }

    mutating func poisson(_ mean: Double) -> Int {
        // Of many, the number is nearly normal.
        if mean > 60 { return Int(max(0, mean + mean.squareRoot() * normal()).rounded()) }
        let end = exp(-mean)
        var (count, product) = (0, uniform())
        while product > end {
            product *= uniform()
            count += 1
        }
        return count
    }

    /// Returns values around 0, each with a correlation to the one before.
    mutating func autocorrelated(_ count: Int, _ correlation: Double, deviation: Double) -> [Double] {
        let fresh = (1 - correlation * correlation).squareRoot()
        var value = normal()
        return (0..<count).map { _ in
            defer { value = correlation * value + fresh * normal() }
            return value * deviation
        }
    }
}
