import MartletStorage
import MartletTelemetry

/// Numbers of batches as rows of `batch`.
extension TableRows {
    /// - Parameters:
    ///   - id: a batch that arrived. Its part is `""` if all of its sequences arrived whole.
    ///   - fresh: see ``BatchArrival/newSequences``.
    ///   - overlapping: the number of batches in it that arrived after some of their intervals had.
    ///   - end: the latest time that the batch tells of.
    mutating func append(_ id: BatchID, fresh: UInt64 = 0, overlapping: UInt64 = 0, end: UnixNanoseconds) {
        append { row in
            row.number(StoredHour.of(Int64(clamping: end)))
            row.text(id.instance)
            row.text(id.signal.rawValue)
            row.flag(id.first < id.sequence)
            row.number(id.sequence)
            row.number(id.first)
            row.text(id.part)
            row.number(fresh)
            row.number(overlapping)
        }
    }
}
