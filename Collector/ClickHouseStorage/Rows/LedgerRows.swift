import MartletPoints
import MartletTelemetry

/// Readings of ledgers as rows of `ledger`.
extension TableRows {
    /// - Parameters:
    ///   - requests: requests in the batch that brought the reading.
    ///   - batch: 16 bytes that name it.
    mutating func append(_ reading: LedgerReading, requests: UInt64, sender: UInt64, batch: [UInt8]) {
        append { row in
            row.number(StoredHour.of(Int64(clamping: reading.time)))
            row.number(sender)
            row.number(Int64(clamping: reading.time))
            row.fixed(batch)
            for number in [reading.captured, requests, reading.age, reading.unwatched] { row.number(number) }
        }
    }
}
