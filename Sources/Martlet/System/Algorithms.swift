import Foundation
import Synchronization

/// SHA-256 (FIPS 180-4), for a few bytes at a process's start: Foundation has none, and a library for it would be too
/// much.
enum SHA256 {
    static func hexadecimal(_ message: some Sequence<UInt8>) -> String {
        var padded = Array(message)
        let bits = UInt64(padded.count) * 8
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        padded += (0..<8).reversed().map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }
        var state = squareRoots
        for start in stride(from: 0, to: padded.count, by: 64) { compress(padded[start..<start + 64], into: &state) }
        return state.map { String(String(0x1_0000_0000 | UInt64($0), radix: 16).dropFirst()) }.joined()
    }

    /// Compresses a block (section 6.2.2).
    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        let w = schedule(block)
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for t in 0..<64 {
            let choice = (e & f) ^ (~e & g)
            let first = h &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ choice &+ cubeRoots[t] &+ w[t]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ majority
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private static func schedule(_ block: ArraySlice<UInt8>) -> [UInt32] {
        var w = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for t in 16..<64 {
            let (x, y) = (w[t - 15], w[t - 2])
            let near = rotate(x, 7) ^ rotate(x, 18) ^ (x >> 3)
            let far = rotate(y, 17) ^ rotate(y, 19) ^ (y >> 10)
            w.append(w[t - 16] &+ near &+ w[t - 7] &+ far)
        }
        return w
    }

    private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

    // Sections 4.2.2 and 5.3.3: the first 32 bits of the fractions of roots of primes. With the integer part, these
    // take 35 bits, and a `Double` has 53.
    private static let primes = (2...311).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }
    private static let cubeRoots = primes.map { fraction(cbrt(Double($0))) }
    private static let squareRoots = primes.prefix(8).map { fraction(Double($0).squareRoot()) }

    private static func fraction(_ root: Double) -> UInt32 { UInt32(truncatingIfNeeded: UInt64(root * 0x1p32)) }
}

/// Steele, Lea and Flood's SplitMix64 ("Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). It is good
/// enough for ids and takes about ten instructions, and threads can share its state, which is a counter.
enum SplitMix64 {
    static func next(of state: borrowing Atomic<UInt64>) -> UInt64 {
        var mixed = state.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
