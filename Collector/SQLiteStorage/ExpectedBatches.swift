/// How many batches a transaction may expect: those of the last one, and those behind it when it ended, for senders mostly send
/// again when they were answered. So a sender that is alone is waited for by nobody, and waits once at most.
package struct ExpectedBatches: Sendable {
    private let count: Int

    /// Before the first transaction.
    package init() {
        count = 0
    }

    /// - Parameters:
    ///   - written: batches of the transaction that ended.
    ///   - waiting: batches behind it.
    package init(after written: Int, with waiting: Int) {
        count = written + waiting
    }

    package func areMore(than waiting: Int) -> Bool { waiting < count }
}
