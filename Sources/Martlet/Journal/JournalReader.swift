/// Reads the records of a segment one after the other. It passes over bytes that no checksum confirms, a boundary at a time:
/// a record is read whole or not at all.
struct JournalReader {
    private let records: UnsafeRawBufferPointer
    private let seed: UInt64
    private var offset = 0

    init(_ records: UnsafeRawBufferPointer, seed: UInt64) {
        self.records = records
        self.seed = seed
    }

    /// Returns the next record's bytes, at least as long as the fixed part; `nil` after the last.
    mutating func next() -> UnsafeRawBufferPointer? {
        while offset + JournalRecord.Field.texts <= records.count {
            let rest = UnsafeRawBufferPointer(rebasing: records[offset...])
            let word = JournalFormat.word(at: rest)
            let length = JournalFormat.length(ofWord: word)
            if Self.isPossible(length, in: rest.count) {
                let record = UnsafeRawBufferPointer(rebasing: rest[..<length])
                let checksum = JournalChecksum.of(record, seed: seed &+ UInt64(offset))
                if word == JournalFormat.word(length: length, checksum: checksum) {
                    offset += length
                    return record
                }
            }
            offset += JournalFormat.granule
        }
        return nil
    }

    /// Returns whether every reserved record is written: the word that gives its length comes last.
    static func isWritten(_ records: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < records.count {
            let rest = UnsafeRawBufferPointer(rebasing: records[offset...])
            let length = JournalFormat.length(ofWord: JournalFormat.word(at: rest))
            guard isPossible(length, in: rest.count) else { return false }
            offset += length
        }
        return true
    }

    private static func isPossible(_ length: Int, in room: Int) -> Bool {
        length >= JournalRecord.Field.texts && length <= min(room, JournalFormat.longestRecord)
            && length % JournalFormat.granule == 0
    }
}
