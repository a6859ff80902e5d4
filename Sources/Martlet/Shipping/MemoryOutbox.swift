import MartletTelemetry

/// An instance's batches that cannot be stored in any directory. They are sent from memory, and stored as soon as a
/// directory can be used. Their size is limited: the oldest are dropped to make room, details first.
///
/// If the journal is in files, the interval of a batch stays there until the batch is settled or stored, so that
/// nothing is lost when the process is killed (docs/internals/buffer.md). Without files, the batches are lost then.
struct MemoryOutbox: BatchStore {
    let instance: String
    private(set) var account = OutboxAccount()
    /// The size of all bodies together, in bytes.
    private(set) var bytes = 0
    /// The interval that is still in the journal's files because its batch waits here. No other interval is sealed
    /// meanwhile. `nil` for none.
    private(set) var held: UInt64?
    private var waiting: [(batch: StoredBatch, body: [UInt8])] = []
    private let limit: Int
    private let keeper: JournalKeeper

    /// - Parameter limit: bytes of all bodies together.
    init(instance: String, limit: Int, keeper: JournalKeeper) {
        self.instance = instance
        self.limit = limit
        self.keeper = keeper
    }

    var isEmpty: Bool { waiting.isEmpty }

    /// Requests that are lost if the process dies.
    var losable: UInt64 {
        waiting.reduce(0) { isHeld($1.batch.file) ? $0 : $0 &+ $1.batch.file.requests }
    }

    mutating func adopt(account: OutboxAccount) { self.account = account }

    func batches() -> [StoredBatch]? { waiting.map(\.batch) }

    func read(_ file: BatchFile) -> [UInt8]? { index(of: file).map { waiting[$0].body } }

    func size(of file: BatchFile) -> Int { read(file)?.count ?? 0 }

    mutating func mark(_ file: BatchFile, at place: PossibleHolder?) -> BatchFile? {
        guard let index = index(of: file) else { return nil }
        if file.mayHaveArrived, file.place == place { return file }
        if isHeld(file) { keeper.noteAttempt(place?.word ?? JournalHeader.placelessAttempt) }
        if !file.mayHaveArrived { waiting[index].batch.modified = Clock.wall() }
        waiting[index].batch.file.mayHaveArrived = true
        waiting[index].batch.file.place = place
        return waiting[index].batch.file
    }

    mutating func settle(_ file: BatchFile, as settlement: Settlement) {
        account.settle(file, as: settlement)
        if file.signal == .metrics { account.noteSettled(file.sequence) }
        ShippingMilestone.settled.reach()
        release(file)
        remove(file)
        ShippingMilestone.removed.reach()
    }

    /// Always `nil`: a batch in memory belongs to this process, which has its sums.
    var sums: CumulativeSums? { nil }

    func keep(_ sums: CumulativeSums) {}

    /// Replaces a batch with parts. They are only in memory, and the journal releases the interval: after a kill it
    /// would make different parts of the same requests, under the same names.
    mutating func replace(_ file: BatchFile, with parts: [EncodedBatch]) {
        guard let index = index(of: file) else { return }
        release(file)
        remove(file)
        waiting.insert(contentsOf: parts.map { Self.new($0.file, $0.body) }, at: index)
        bytes += parts.reduce(0) { $0 + $1.body.count }
    }

    /// Counts the requests of a batch that did not fit as dropped.
    mutating func drop(_ file: BatchFile) {
        account.settle(file, as: .dropped(.bufferFull))
        account.noteSettled(file.sequence)
    }

    /// Stores a batch; returns `false` if it does not fit.
    mutating func store(_ body: [UInt8], as file: BatchFile) -> Bool {
        guard makeRoom(for: body.count, file.signal) else { return false }
        waiting.append(Self.new(file, body))
        bytes += body.count
        return true
    }

    /// Notes that the journal's files keep the interval until its batch is settled or stored.
    mutating func hold(_ sequence: UInt64) { held = sequence }

    /// Moves the batches into an outbox, the oldest first. If one cannot be stored, it and all later ones stay.
    mutating func move(to outbox: inout Outbox) throws(WholeFile.Failure) {
        while let (batch, body) = waiting.first {
            try outbox.store(body, as: batch.file, modified: batch.modified)
            release(batch.file)
            remove(batch.file)
        }
    }

    // MARK: -

    private static func new(_ file: BatchFile, _ body: [UInt8]) -> (batch: StoredBatch, body: [UInt8]) {
        (StoredBatch(file: file, size: body.count, modified: Clock.wall()), body)
    }

    private func index(of file: BatchFile) -> Int? { waiting.firstIndex { $0.batch.file == file } }

    private func isHeld(_ file: BatchFile) -> Bool { file.signal == .metrics && file.sequence == held }

    private mutating func release(_ file: BatchFile) {
        guard isHeld(file) else { return }
        keeper.recycle()
        held = nil
    }

    private mutating func remove(_ file: BatchFile) {
        guard let index = index(of: file) else { return }
        bytes -= waiting.remove(at: index).body.count
    }

    /// Makes room for a body. For details, only other details are dropped.
    ///
    /// - Returns: whether the body fits.
    private mutating func makeRoom(for new: Int, _ signal: Signal) -> Bool {
        guard new <= limit else { return false }
        while bytes + new > limit, let oldest = oldest(.traces) ?? (signal == .metrics ? oldest(.metrics) : nil) {
            settle(oldest, as: .dropped(.bufferFull))
        }
        return bytes + new <= limit
    }

    /// Returns the oldest batch. A batch that may have arrived comes last: its requests would be counted as dropped
    /// although the collector has them.
    private func oldest(_ signal: Signal) -> BatchFile? {
        let files = waiting.map(\.batch.file).filter { $0.signal == signal }
        return files.first { !$0.mayHaveArrived } ?? files.first
    }
}
