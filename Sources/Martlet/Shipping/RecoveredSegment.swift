import Foundation

/// A segment that a dead process left.
struct RecoveredSegment {
    let path: String
    let header: JournalHeader
    private let bytes: Data

    enum ReadResult {
        case segment(RecoveredSegment)
        case blank
        case damaged
    }

    /// Returns the segment of a file; `nil` if the file cannot be read now.
    static func read(_ path: String) -> ReadResult? {
        guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
        return switch bytes.withUnsafeBytes({ JournalHeader.read($0) }) {
        case .header(let header): .segment(RecoveredSegment(path: path, header: header, bytes: bytes))
        case .blank: .blank
        case .damaged: .damaged
        }
    }

    /// The note of an attempt to send a batch of the segment's interval from memory; 0 if there was none.
    var attempt: UInt64 { bytes.withUnsafeBytes { JournalHeader.attempt($0) } }

    /// Nanoseconds for which capture was off since the dead instance's start.
    var unwatched: UInt64 { bytes.withUnsafeBytes { JournalHeader.unwatched($0) } }

    func count(into statistics: inout SeriesStatistics) {
        bytes.withUnsafeBytes { bytes in
            var reader = JournalReader(
                UnsafeRawBufferPointer(rebasing: bytes[JournalFormat.headerBytes...]), seed: header.seed)
            while let record = reader.next() { statistics.count(record) }
        }
    }

    func remove() { unlink(path) }
}
