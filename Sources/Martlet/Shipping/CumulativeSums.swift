import MartletOTLP
import MartletTelemetry

/// The sums of an instance's delivered metrics since its start, for a back end that takes cumulative points alone.
///
/// Batches wait as deltas, so that they can be merged, divided and recovered, and become cumulative on their way out. The sums
/// grow by a batch when the collector has acknowledged it: they have what was delivered, each request once. They are stored
/// ahead of the account, with the id of the last batch. So a process that delivers the batches of a dead one goes on with its
/// sums, and adds no batch twice (docs/buffer.md).
struct CumulativeSums: Sendable, Equatable {
    static let fileName = "sums"

    /// The batch that was added last.
    private let last: String
    /// The sums as the body of one batch.
    private let body: [UInt8]

    /// An estimate of the memory, in bytes.
    var size: Int { body.count }

    /// Returns the body to upload for a batch, and the sums with the batch in them; `nil` if the body is not one that an agent
    /// makes.
    ///
    /// A whole batch goes out with all streams, and a part of a batch that was too large with its own alone. Sums that have
    /// grown past ``MartletLimits/sums`` end: the streams begin anew with this batch.
    ///
    /// - Parameter alone: whether a whole batch also goes out with its own streams alone.
    static func adding(
        _ plain: [UInt8], of batch: BatchID, to sums: CumulativeSums?, alone: Bool = false
    ) -> (upload: [UInt8], sums: CumulativeSums)? {
        guard let added = MergedMetrics(plain) else { return nil }
        var total = added
        if let sums, let before = MergedMetrics(sums.body) {
            let isAdded = sums.last == "\(batch)"
            total = before
            if !isAdded, sums.size > MartletLimits.sums || !total.add(plain, isResourceNew: true) { total = added }
            // The journal of a dead process may have a request that ended before the last batch was sealed.
            if !isAdded { total.move(past: before.time) }
        }
        guard let upload = try? total.otlp(.cumulative, only: batch.part.isEmpty && !alone ? nil : added),
            let body = try? total.otlp()
        else { return nil }
        return (upload, CumulativeSums(last: "\(batch)", body: body))
    }
}

// MARK: The file

extension CumulativeSums {
    private static let lineEnd = UInt8(ascii: "\n")

    /// The file: a line with the batch's id, then the body, in gzip, which has a checksum.
    func file() throws -> [UInt8] { try Gzip.compress(Array(last.utf8) + [Self.lineEnd] + body) }

    /// `nil` for a file that is not whole.
    init?(file: [UInt8]) {
        guard let plain = try? Gzip.decompress(file, limit: MartletLimits.plainBodyBytes),
            let end = plain.firstIndex(of: Self.lineEnd)
        else { return nil }
        self.init(last: String(decoding: plain[..<end], as: UTF8.self), body: Array(plain[(end + 1)...]))
    }
}
