import MartletOTLP
import MartletTelemetry

/// The sums of an instance's delivered metrics since its start, for a back end that takes cumulative points alone.
///
/// Batches wait as deltas, so that they can be merged, divided and recovered, and become cumulative on their way out. The sums
/// grow by a batch when the collector has acknowledged it, or may have it: they have each request once, and never fall. They
/// are stored ahead of the account, with the ids of the last batch and of those that wait to be sent again. So a process that
/// delivers the batches of a dead one goes on with its sums, and adds no batch twice (docs/buffer.md).
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

    /// The body of a batch is not one that an agent makes.
    struct Unreadable: Error {}

    /// Returns the body to upload for a batch, and the sums with the batch in them. Throws ``Unreadable``, or another error if
    /// there is no memory for them.
    ///
    /// A whole batch goes out with all streams, and a part of a batch that was too large with its own alone. Sums that have
    /// grown past ``MartletLimits/sums`` end: the streams begin anew with this batch.
    ///
    /// - Parameter alone: whether a whole batch also goes out with its own streams alone.
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
        let time = total.time
        guard sums.size <= MartletLimits.sums, total.add(plain, isResourceNew: true) else {
            return try beginning(with: added, of: batch, after: time)
        }
        // The journal of a dead process may have a request that ended before the last batch was sealed.
        total.move(past: time)
        return (
            try total.otlp(.cumulative, only: selection),
            CumulativeSums(last: "\(batch)", waiting: waiting, body: try total.otlp())
        )
    }

    /// The streams that begin anew with a batch.
    private static func beginning(
        with added: MergedMetrics, of batch: BatchID, after time: UInt64 = 0
    ) throws -> (upload: [UInt8], sums: CumulativeSums) {
        var total = added
        total.move(past: time)
        let sums = CumulativeSums(last: "\(batch)", waiting: [], body: try total.otlp())
        return (try total.otlp(.cumulative), sums)
    }

    /// The sums after an upload of the last batch without an answer: the batch waits, and may have arrived.
    var whileLastWaits: CumulativeSums {
        var sums = self
        sums.waiting.insert(last)
        return sums
    }

    /// Returns whether the sums have a batch, or the batch that it is a part of.
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

    /// The file: a line with the ids of the last batch and of those that wait, then the body, in gzip, which has a checksum.
    func file() throws -> [UInt8] {
        let ids = [last] + waiting.sorted()
        return try Gzip.compress(Array(ids.joined(separator: " ").utf8) + [Self.lineEnd] + body)
    }

    /// `nil` for a file that is not whole.
    init?(file: [UInt8]) {
        guard let plain = try? Gzip.decompress(file, limit: MartletLimits.plainBodyBytes),
            let end = plain.firstIndex(of: Self.lineEnd)
        else { return nil }
        let ids = String(decoding: plain[..<end], as: UTF8.self).split(separator: " ").map(String.init)
        self.init(last: ids.first ?? "", waiting: Set(ids.dropFirst()), body: Array(plain[(end + 1)...]))
    }
}

/// The sums that batches of metrics become on their way to a back end of cumulative points, and the sums that are kept when such a
/// batch has arrived. Batches for a back end of deltas go out as they are.
struct OutgoingSums {
    private let isCumulative: Bool
    private let instance: String
    private let board: StatusBoard
    /// The sums of this process's own batches; `nil` before the first, and for deltas.
    private var own: CumulativeSums?
    /// Whether a batch has its own streams alone, because a batch with all streams was too large once.
    var sendsOnlyOwnStreams = false

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
            plain, of: file.id(of: store.instance), to: sums(of: store), onlyOwnStreams: sendsOnlyOwnStreams)
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
