/// Tells bytes that the disk changed: SQLite has no checksum of its pages.
///
/// Each step is a bijection of the state for a given word, so bytes that differ within one word of 8 never have the same 64
/// bits at the end; two to the power of -32 of all others have the same 32 that are kept.
enum ChunkChecksum {
    static func of(_ bytes: [UInt8]) -> Int64 {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(bytes.count)
        let words = bytes.span.bytes
        var offset = 0
        while offset + 8 <= words.byteCount {
            // Checked against the bounds; what is unsafe about it are types other than integers.
            state = mixed(
                state, UInt64(littleEndian: words.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        for byte in bytes[offset...] { state = mixed(state, UInt64(byte)) }
        return Int64(state >> 32)
    }

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0xbf58_476d_1ce4_e5b9
        return product ^ (product >> 32)
    }
}
