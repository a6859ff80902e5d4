import MartletOTLP
import MartletTelemetry

/// The sums of an instance's delivered metrics since its start, for a back end that accepts only cumulative points.
///
/// Batches wait as deltas, so that they can be merged, divided and recovered. They become cumulative when they are
/// sent. A batch is added to the sums when the collector has acknowledged it or may have it. So the sums count each
/// request once and never decrease. They are stored before the account, with the ids of the last batch and of those
/// that wait to be sent again. A process that delivers the batches of a dead one continues its sums and adds no batch
/// twice (docs/internals/buffer.md).
struct CumulativeSums: Sendable, Equatable {
    static let fileName = "sums"

    /// The batch that was added last.
    private let last: String
    /// Batches that may have arrived and wait to be sent again.
    private var waiting: Set<String>
    /// The sums as the body of one batch.
    private let body: [UInt8]

    /// An estimate of the memory, in bytes.
    var size: Int { body.count + waiting.count * 64 }

    /// Thrown for the body of a batch that no agent makes.
    struct Unreadable: Error {}

    /// Returns the body to upload for a batch, and the sums with the batch in them. Throws ``Unreadable``, or another
    /// error if there is no memory for them.
    ///
    /// A whole batch is sent with all streams, a part only with its own. If the sums outgrow ``MartletLimits/sums``,
    /// all streams restart with this batch.
    ///
    /// - Parameter onlyOwnStreams: whether to send a whole batch only with its own streams too.
    static func adding(
        _ plain: [UInt8], of batch: BatchID, to sums: CumulativeSums?, onlyOwnStreams: Bool = false
    ) throws -> (upload: [UInt8], sums: CumulativeSums) {
        guard let added = MergedMetrics(plain) else { throw Unreadable() }
        let selection = batch.part.isEmpty && !onlyOwnStreams ? nil : added
        guard let sums, var total = MergedMetrics(sums.body) else { return try beginning(with: added, of: batch) }
        var waiting = sums.waiting
        waiting.remove("\(batch)")
        if sums.contains(batch) {
            let upload = try total.otlp(.cumulative, only: selection)
            return (upload, CumulativeSums(last: "\(batch)", waiting: waiting, body: sums.body))
        }
        let earlier = total
        guard sums.size <= MartletLimits.sums, total.add(plain, isResourceNew: true) else {
            return try beginning(with: added, of: batch, after: earlier.time)
        }
        // The journal of a dead process may have a request that ended before the last batch was sealed, and the process may have
        // been seen last before its first request.
        total.follow(earlier)
        return (
            try total.otlp(.cumulative, only: selection),
            CumulativeSums(last: "\(batch)", waiting: waiting, body: try total.otlp())
        )
    }

    /// Returns the body to upload and the sums, of streams that restart with a batch.
    private static func beginning(
        with added: MergedMetrics, of batch: BatchID, after time: UInt64 = 0
    ) throws -> (upload: [UInt8], sums: CumulativeSums) {
        var total = added
        total.move(past: time)
        let sums = CumulativeSums(last: "\(batch)", waiting: [], body: try total.otlp())
        return (try total.otlp(.cumulative), sums)
    }

    /// The sums after an upload of the last batch got no answer: the batch may have arrived, and waits to be sent
    /// again.
    var whileLastWaits: CumulativeSums {
        var sums = self
        sums.waiting.insert(last)
        return sums
    }

    /// Returns whether the sums contain a batch, or the batch that it is a part of.
    private func contains(_ batch: BatchID) -> Bool {
        if last == "\(batch)" { return true }
        if waiting.isEmpty { return false }
        var whole = batch
        return (0...batch.part.count).contains { length in
            whole.part = String(batch.part.prefix(length))
            return waiting.contains("\(whole)")
        }
    }
}

// MARK: The file

extension CumulativeSums {
    private static let lineEnd = UInt8(ascii: "\n")

    /// The file: a line with the ids of the last batch and of those that wait, then the body in gzip, which has a
    /// checksum.
    func file() throws -> [UInt8] {
        let ids = [last] + waiting.sorted()
        return try Gzip.compress(Array(ids.joined(separator: " ").utf8) + [Self.lineEnd] + body)
    }

    /// `nil` for a file that is incomplete.
    init?(file: [UInt8]) {
        guard let plain = try? Gzip.decompress(file, limit: MartletLimits.plainBodyBytes),
            let end = plain.firstIndex(of: Self.lineEnd)
        else { return nil }
        let ids = String(decoding: plain[..<end], as: UTF8.self).split(separator: " ").map(String.init)
        self.init(last: ids.first ?? "", waiting: Set(ids.dropFirst()), body: Array(plain[(end + 1)...]))
    }
}

/// For a back end of cumulative points, turns batches of metrics into sums when they are sent, and keeps the sums when
/// a batch has arrived. For a back end of deltas, batches are sent unchanged.
struct OutgoingSums {
    private let isCumulative: Bool
    private let instance: String
    private let board: StatusBoard
    /// The sums of this process's own batches; `nil` before the first, and for deltas.
    private var own: CumulativeSums?
    /// Whether batches are sent only with their own streams, because a batch with all streams was once too large.
    var sendsOnlyOwnStreams = false

    /// - Parameter instance: this process, whose sums are in memory. Those of dead processes are in their stores.
    init(_ configuration: MartletConfiguration, instance: String, board: StatusBoard) {
        isCumulative = configuration.temporality == .cumulative
        (self.instance, self.board) = (instance, board)
    }

    /// Returns the body to send for a batch. If the back end takes cumulative points, a batch of metrics becomes sums,
    /// and the result has the sums to keep once it has arrived. Throws ``CumulativeSums/Unreadable`` if no agent makes
    /// such a body, because this back end must get no deltas. Throws another error if there is no memory for it.
    func outgoing(
        _ body: [UInt8], _ file: BatchFile, of store: borrowing some BatchStore & ~Copyable
    ) throws -> (body: [UInt8], sums: CumulativeSums?) {
        guard isCumulative, file.signal == .metrics else { return (body, nil) }
        guard let plain = file.plain(body) else { throw CumulativeSums.Unreadable() }
        let (upload, sums) = try CumulativeSums.adding(
            plain, of: file.id(of: store.instance), to: sums(of: store), onlyOwnStreams: sendsOnlyOwnStreams)
        return (file.isCompressed ? try Gzip.compress(upload) : upload, sums)
    }

    private func sums(of store: borrowing some BatchStore & ~Copyable) -> CumulativeSums? {
        store.instance == instance ? own : store.sums
    }

    /// Keeps the sums with a batch that may have arrived. Does so only once: at a later attempt the batch is already in
    /// them.
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
