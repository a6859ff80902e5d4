/// A checksum that reveals bytes changed on the disk: SQLite has no checksum of its pages.
///
/// Each step is a bijection of the state for a given word. Bytes that differ within one word of 8 therefore never have the
/// same 64 bits at the end. Of all other changes a share of two to the power of -32 leaves the 32 kept bits the same.
enum ChunkChecksum {
    static func of(_ bytes: [UInt8]) -> Int64 {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(bytes.count)
        // The loop reads words, which may be unaligned: byte by byte it would take as long as all else.
        bytes.withUnsafeBytes { bytes in
            let words = bytes.count / 8 * 8
            for offset in stride(from: 0, to: words, by: 8) {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                state = mixed(state, UInt64(littleEndian: word))
            }
            for byte in bytes[words...] { state = mixed(state, UInt64(byte)) }
        }
        return Int64(state >> 32)
    }

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0xbf58_476d_1ce4_e5b9
        return product ^ (product >> 32)
    }
}
