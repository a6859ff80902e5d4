/// Where an instance's batches wait for the collector: in its directory (``Outbox``), or in memory where no directory takes
/// them (``MemoryOutbox``). For one thread.
protocol BatchStore: ~Copyable {
    var instance: String { get }
    /// The account of the batches that are gone, of all stores of the instance together.
    var account: OutboxAccount { get }

    /// Goes on with the account as another store of the instance left it.
    mutating func follow(_ account: OutboxAccount)

    /// The batches that wait, oldest first. `nil` when they cannot be listed now.
    mutating func batches() -> [StoredBatch]?

    /// The batch's body. `nil` when it is gone or cannot be read now.
    mutating func read(_ file: BatchFile) -> [UInt8]?

    /// Notes that a batch is about to be sent, so that nobody changes it any more. `nil` when that cannot be noted: then it
    /// must not be sent.
    mutating func mark(_ file: BatchFile) -> BatchFile?

    /// Takes a batch out, for good.
    mutating func settle(_ file: BatchFile, as settlement: Settlement)

    /// Puts others into a batch's place that stand for the same requests. Throws, and nothing has changed, when they
    /// cannot be stored.
    mutating func replace(_ file: BatchFile, with parts: [(file: BatchFile, body: [UInt8])]) throws
}
