/// The number of batches that a transaction may expect: those of the last one, and those that waited when it ended, because
/// senders mostly send the next batch once they are answered. A sender that is alone therefore waits once at most.
package struct ExpectedBatches: Sendable {
    private let count: Int

    /// Creates the expectation before the first transaction: no batches.
    package init() {
        count = 0
    }

    /// - Parameters:
    ///   - written: batches of the transaction that ended.
    ///   - waiting: batches that waited when it ended.
    package init(after written: Int, with waiting: Int) {
        count = written + waiting
    }

    package func areMore(than waiting: Int) -> Bool { waiting < count }
}
