import MartletOTLP

/// The sums that batches of metrics become on their way to a back end of cumulative points, and the sums that are kept when such a
/// batch has arrived. Batches for a back end of deltas go out as they are.
struct OutgoingSums {
    private let isCumulative: Bool
    private let instance: String
    private let board: StatusBoard
    /// The sums of this process's own batches; `nil` before the first, and for deltas.
    private var own: CumulativeSums?
    /// Whether a batch has its own streams alone, because a batch with all streams was too large once.
    var haveOwnStreamsAlone = false

    /// - Parameter instance: the process, whose sums are in memory; those of dead ones are in their stores.
    init(_ configuration: MartletConfiguration, instance: String, board: StatusBoard) {
        isCumulative = configuration.temporality == .cumulative
        (self.instance, self.board) = (instance, board)
    }

    /// Returns a batch's body as it goes out: a batch of metrics as sums, if the back end takes cumulative points, with the
    /// sums to keep when it has arrived. Throws ``CumulativeSums/Unreadable`` if the body is not one that an agent makes: such a back end
    /// gets no deltas. Throws another error if there is no memory for it.
    func outgoing(
        _ body: [UInt8], _ file: BatchFile, of store: borrowing some BatchStore & ~Copyable
    ) throws -> (body: [UInt8], sums: CumulativeSums?) {
        guard isCumulative, file.signal == .metrics else { return (body, nil) }
        guard let plain = file.plain(body) else { throw CumulativeSums.Unreadable() }
        let (upload, sums) = try CumulativeSums.adding(
            plain, of: file.id(of: store.instance), to: sums(of: store), alone: haveOwnStreamsAlone)
        return (file.isCompressed ? try Gzip.compress(upload) : upload, sums)
    }

    private func sums(of store: borrowing some BatchStore & ~Copyable) -> CumulativeSums? {
        store.instance == instance ? own : store.sums
    }

    /// Keeps the sums with a batch that may have arrived, once: a later attempt finds the batch in them.
    mutating func keepWaiting(_ sums: CumulativeSums?, in store: borrowing some BatchStore & ~Copyable) {
        guard let sums = sums?.whileLastWaits, sums != self.sums(of: store) else { return }
        keep(sums, in: store)
    }

    mutating func keep(_ sums: CumulativeSums?, in store: borrowing some BatchStore & ~Copyable) {
        guard let sums else { return }
        store.keep(sums)
        guard store.instance == instance else { return }
        own = sums
        board.update { $0.sumsBytes = sums.size }
    }
}
