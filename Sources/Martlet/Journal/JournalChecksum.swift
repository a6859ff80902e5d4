/// Tells a whole record from a torn one, and from the remains of an earlier interval. Every step is a bijection of its input,
/// so that a single wrong word always changes the 128 bits that are folded in the end. Two states keep the multiplier busy. It
/// is no protection against forgery: a writer of the file can write a record.
enum JournalChecksum {
    /// Returns the checksum of all but the first word, which the checksum goes into.
    ///
    /// - Parameter bytes: a multiple of ``JournalFormat/granule``, and not empty.
    @inline(__always)
    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt32 {
        // Two odd numbers with bits all over: the fractions of the golden ratio and of the square root of 3.
        let (even, odd): (UInt64, UInt64) = (0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b)
        var first = (seed ^ UInt64(bytes.count) << 48) &* odd
        var second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ seed
        var offset = JournalFormat.granule
        while offset < bytes.count {
            first = (first ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* even
            second = (second ^ bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)) &* odd
            first ^= first >> 32
            second ^= second >> 29
            offset += JournalFormat.granule
        }
        let folded = (first ^ (second << 31 | second >> 33)) &* even
        return UInt32(truncatingIfNeeded: folded >> 32)
    }
}
