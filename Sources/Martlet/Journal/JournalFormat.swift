import MartletTelemetry
import Synchronization

/// The layout of a segment of the journal. docs/internals/buffer.md describes it and how segments are recovered.
///
/// Numbers are in the machine's byte order, because a segment is read on the host that wrote it, by the same program.
enum JournalFormat {
    /// The text "MARTLJ01". The last two characters are the version.
    static let magic: UInt64 = 0x3130_4A4C_5452_414D
    /// Bytes of the header: a whole page.
    static let headerBytes = 4096
    /// Every record begins at a multiple of this number of bytes. The checksum also works in these steps.
    static let granule = 16
    /// The maximum size of a record, in bytes. Its texts have their own limits (``JournalRecord``).
    static let longestRecord = 4096
    static let fileSuffix = ".journal"

    static func roundedUp(_ bytes: Int) -> Int { (bytes + granule - 1) & ~(granule - 1) }

    /// Returns the first word of a record, which holds its length and checksum; never 0.
    static func word(length: Int, checksum: UInt32) -> UInt64 { UInt64(length) << 32 | UInt64(checksum) }

    static func length(ofWord word: UInt64) -> Int { Int(word >> 32) }

    /// Writes the first word of a record, which makes the record valid. The other bytes must be written before.
    ///
    /// - Parameter bytes: at a multiple of ``granule``, in a segment.
    @inline(__always)
    static func publish(_ word: UInt64, at bytes: UnsafeMutableRawBufferPointer) {
        bytes.baseAddress?.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(word, ordering: .releasing)
    }

    @inline(__always)
    static func word(at bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.baseAddress?.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring) ?? 0
    }
}

/// The fields of a segment's header.
struct JournalHeader: Equatable {
    var sequence: UInt64
    var slot: UInt64
    var capacity: UInt64
    /// The time when the interval began, by the wall clock.
    var start: UnixNanoseconds

    /// The header's words. The first one is reserved for the checksum.
    private var fields: [UInt64] { [0, JournalFormat.magic, sequence, slot, capacity, start] }

    /// A number that is mixed into the checksum of every record.
    var seed: UInt64 { (sequence &* 64 &+ slot &+ 1) &* 0x9e37_79b9_7f4a_7c15 }

    init(sequence: UInt64, slot: UInt64, capacity: UInt64, start: UnixNanoseconds) {
        self.sequence = sequence
        self.slot = slot
        self.capacity = capacity
        self.start = start
    }

    enum ReadResult: Equatable {
        case header(JournalHeader)
        /// No interval has begun in the segment.
        case blank
        case damaged
    }

    static func read(_ bytes: UnsafeRawBufferPointer) -> ReadResult {
        guard bytes.count >= JournalFormat.headerBytes else { return bytes.isEmpty ? .blank : .damaged }
        let words = (0..<6).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        if words[0] == 0 { return .blank }
        let header = JournalHeader(sequence: words[2], slot: words[3], capacity: words[4], start: words[5])
        let isWhole = words[1] == JournalFormat.magic && words[0] == header.checksum
        return isWhole ? .header(header) : .damaged
    }

    /// Writes the header, with the checksum last. Until then the segment is blank.
    func write(to bytes: UnsafeMutableRawBufferPointer) {
        bytes.storeBytes(of: 0, toByteOffset: Self.attemptWord, as: UInt64.self)
        for (index, field) in fields.enumerated() {
            bytes.storeBytes(of: field, toByteOffset: index * 8, as: UInt64.self)
        }
        JournalFormat.publish(checksum, at: bytes)
    }

    static func erase(_ bytes: UnsafeMutableRawBufferPointer) {
        JournalFormat.publish(0, at: bytes)
    }

    /// The offset of a word after the fields: 0, or the note of an attempt to send a batch of the interval from memory.
    private static let attemptWord = 64
    /// The note of an attempt when no possible holder is known.
    static let placelessAttempt: UInt64 = 1

    static func noteAttempt(_ note: UInt64, in bytes: UnsafeMutableRawBufferPointer) {
        JournalFormat.publish(note, at: UnsafeMutableRawBufferPointer(rebasing: bytes[attemptWord...]))
    }

    /// Returns the note of an attempt; 0 if there was none. Call it for a segment whose header was read.
    static func attempt(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: attemptWord, as: UInt64.self)
    }

    private static let captureGapWord = 72

    /// Notes for how many nanoseconds capture was off until now, so that a recovered batch can report it.
    static func noteCaptureGap(_ nanoseconds: UInt64, in bytes: UnsafeMutableRawBufferPointer) {
        JournalFormat.publish(nanoseconds, at: UnsafeMutableRawBufferPointer(rebasing: bytes[captureGapWord...]))
    }

    /// Returns for how many nanoseconds capture was off. Call it for a segment whose header was read.
    static func captureGap(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: captureGapWord, as: UInt64.self)
    }

    private var checksum: UInt64 {
        fields.withUnsafeBytes { UInt64(JournalChecksum.checksum(of: $0, seed: 0)) | 1 << 32 }
    }
}

/// Distinguishes a whole record from a torn one, and from the remains of an earlier interval. Every step is a bijection
/// of its input, so a single wrong word always changes the 128 bits that are folded at the end. Two states keep the
/// multiplier busy. It does not protect against forgery: whoever can write the file can write a record.
enum JournalChecksum {
    /// Returns the checksum of everything after the first word, which holds the checksum.
    ///
    /// - Parameter bytes: a multiple of ``JournalFormat/granule`` in size, and not empty.
    @inline(__always)
    static func checksum(of bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt32 {
        // Two odd numbers with well mixed bits: the fractions of the golden ratio and of the square root of 3.
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
