extension AgentsReport.Account {
    /// Returns the sum of ledgers; `nil` for none. A figure that has no room in 64 bits stays at the largest number.
    package static func sum(of ledgers: [AgentsReport.Account]) -> AgentsReport.Account? {
        guard let first = ledgers.first else { return nil }
        return ledgers.dropFirst().reduce(into: first) { sum, ledger in
            sum.captured = sum.captured.adding(ledger.captured)
            sum.delivered = sum.delivered.adding(ledger.delivered)
            sum.waiting = sum.waiting.adding(ledger.waiting)
            sum.dropped.merge(ledger.dropped) { $0.adding($1) }
        }
    }
}

extension UInt64 {
    fileprivate func adding(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
