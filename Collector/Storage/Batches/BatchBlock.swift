import Foundation

/// A run of sequences with a bit for each that tells whether its batch arrived.
package struct BatchBlock: Sendable, Equatable {
    /// Sequences in one block: eleven hours of intervals of 10 s in 512 bytes.
    package static let size: UInt64 = 4096

    private static let byteCount = Int(size / 8)

    private var bits: [UInt8]

    /// Creates a block of which nothing arrived.
    package init() {
        bits = Array(repeating: 0, count: Self.byteCount)
    }

    /// Reads the bits of a row. Empty bytes stand for a block that arrived as a whole, as most do in the end.
    package init(_ blob: Data) {
        bits = blob.isEmpty ? Array(repeating: .max, count: Self.byteCount) : Array(blob.prefix(Self.byteCount))
        bits += Array(repeating: 0, count: Self.byteCount - bits.count)
    }

    /// The bits of a row, for ``init(_:)``.
    package var blob: Data {
        bits.allSatisfy { $0 == .max } ? Data() : Data(bits)
    }

    /// Counts the positions, from 0 to 4095, that have arrived.
    package func count(in positions: ClosedRange<Int>) -> Int {
        positions.reduce(0) { $0 + (bits[$1 / 8] & 1 << ($1 % 8) == 0 ? 0 : 1) }
    }

    package mutating func insert(_ positions: ClosedRange<Int>) {
        for position in positions { bits[position / 8] |= 1 << (position % 8) }
    }
}
