import MartletTelemetry

/// The fields of a segment's header.
struct JournalHeader: Equatable {
    var sequence: UInt64
    var slot: UInt64
    var capacity: UInt64
    /// The time when the interval began, by the wall clock.
    var start: UnixNanoseconds

    /// The header's words; the first is the checksum's.
    private var fields: [UInt64] { [0, JournalFormat.magic, sequence, slot, capacity, start] }

    /// The number that is mixed into the checksum of every record.
    var seed: UInt64 { (sequence &* 64 &+ slot &+ 1) &* 0x9e37_79b9_7f4a_7c15 }

    init(sequence: UInt64, slot: UInt64, capacity: UInt64, start: UnixNanoseconds) {
        self.sequence = sequence
        self.slot = slot
        self.capacity = capacity
        self.start = start
    }

    enum ReadResult: Equatable {
        case header(JournalHeader)
        /// No interval was begun in the segment.
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

    /// Writes the header, the checksum last: until then the segment is blank.
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

    /// The offset of a word behind the fields: 0, or the note of an attempt to send a batch of the interval from memory.
    private static let attemptWord = 64
    /// The note of an attempt without a place where the batch may be.
    static let placelessAttempt: UInt64 = 1

    static func noteAttempt(_ note: UInt64, in bytes: UnsafeMutableRawBufferPointer) {
        JournalFormat.publish(note, at: UnsafeMutableRawBufferPointer(rebasing: bytes[attemptWord...]))
    }

    /// Returns the note of an attempt; 0 if there was none. For a segment whose header was read.
    static func attempt(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: attemptWord, as: UInt64.self)
    }

    private static let unwatchedWord = 72

    /// Notes for how many nanoseconds capture was off until now, so that a recovered batch tells of it.
    static func noteUnwatched(_ nanoseconds: UInt64, in bytes: UnsafeMutableRawBufferPointer) {
        JournalFormat.publish(nanoseconds, at: UnsafeMutableRawBufferPointer(rebasing: bytes[unwatchedWord...]))
    }

    /// Returns for how many nanoseconds capture was off. For a segment whose header was read.
    static func unwatched(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: unwatchedWord, as: UInt64.self)
    }

    private var checksum: UInt64 {
        fields.withUnsafeBytes { UInt64(JournalChecksum.of($0, seed: 0)) | 1 << 32 }
    }
}
