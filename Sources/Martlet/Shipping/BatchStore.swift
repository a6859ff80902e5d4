/// A store in which an instance's batches wait for the collector: its directory (``Outbox``), or memory if no directory takes
/// them (``MemoryOutbox``). For one thread.
protocol BatchStore: ~Copyable {
    var instance: String { get }
    /// The account of the batches that are gone, of all stores of the instance together.
    var account: OutboxAccount { get }

    /// Takes over the account that another store of the instance has brought up to date.
    mutating func adopt(account: OutboxAccount)

    /// Returns the batches that wait, oldest first; `nil` if they cannot be listed now.
    mutating func batches() -> [StoredBatch]?

    /// Returns the batch's body; `nil` if it is gone or cannot be read now.
    mutating func read(_ file: BatchFile) -> [UInt8]?

    /// Marks a batch as about to be sent, so that nobody changes it any more.
    ///
    /// - Parameter place: the collector that may have the batch from now on; `nil` to take that back.
    /// - Returns: the marked batch; `nil` if it cannot be marked, and must not be sent.
    mutating func mark(_ file: BatchFile, at place: UploadPlace?) -> BatchFile?

    /// Takes a batch out for good, and notes its end in the account.
    mutating func settle(_ file: BatchFile, as settlement: Settlement)

    /// The sums that were kept; `nil` for none.
    var sums: CumulativeSums? { get }

    /// Keeps the sums of the delivered batches for another process, which may deliver the next one. To be called ahead of the
    /// settlement of the batch that was added to them.
    func keep(_ sums: CumulativeSums)

    /// Replaces a batch with parts that stand for the same requests. Throws, and nothing has changed, if they cannot be
    /// stored.
    mutating func replace(_ file: BatchFile, with parts: [EncodedBatch]) throws
}
