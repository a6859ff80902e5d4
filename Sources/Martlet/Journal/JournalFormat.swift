import Synchronization

/// The layout of a segment of the journal. docs/buffer.md has it in words, with the recovery.
///
/// Numbers are in the machine's byte order: a segment is read by the program that wrote it, on the host that wrote it.
enum JournalFormat {
    /// The text "MARTLJ01", the last two characters for the version.
    static let magic: UInt64 = 0x3130_4A4C_5452_414D
    /// Bytes of the header, a page of its own.
    static let headerBytes = 4096
    /// The boundary, in bytes, that every record begins on, and the step of its checksum.
    static let granule = 16
    /// The most bytes that a record can have: its texts have their own limits (``JournalRecord``).
    static let longestRecord = 4096
    static let fileSuffix = ".journal"

    static func roundedUp(_ bytes: Int) -> Int { (bytes + granule - 1) & ~(granule - 1) }

    /// Returns the first word of a record, its length and checksum; never 0.
    static func word(length: Int, checksum: UInt32) -> UInt64 { UInt64(length) << 32 | UInt64(checksum) }

    static func length(ofWord word: UInt64) -> Int { Int(word >> 32) }

    /// Writes the word that makes the bytes written before it count.
    ///
    /// - Parameter bytes: on a boundary of ``granule``, in a segment.
    @inline(__always)
    static func publish(_ word: UInt64, at bytes: UnsafeMutableRawBufferPointer) {
        bytes.baseAddress?.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(word, ordering: .releasing)
    }

    @inline(__always)
    static func word(at bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.baseAddress?.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring) ?? 0
    }
}
