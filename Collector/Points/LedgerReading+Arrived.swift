extension LedgerReading {
    /// Returns the account brought up to date: it was written before its own batch and those waiting with it arrived. Only the
    /// agent's figure includes requests that went to another collector.
    ///
    /// - Parameters:
    ///   - requests: requests in the batches that brought the reading.
    ///   - arrived: requests in all batches of the sender, as far as they were added up.
    package func upToDate(requests: UInt64, arrived: UInt64) -> LedgerReading {
        var reading = self
        let settled = dropped.values.reduce(0, &+)
        let undropped = captured >= settled ? captured - settled : 0
        let (sum, isTooLarge) = delivered.addingReportingOverflow(requests)
        reading.delivered = min(undropped, max(isTooLarge ? 0 : sum, arrived))
        reading.waiting = undropped - reading.delivered
        return reading
    }
}
