import MartletOTLP
import MartletTelemetry

/// The parts that replace a batch that is too large.
enum BatchSplit {
    /// Returns two parts of a batch; `nil` if it cannot be divided: one series, one span, or a part that was divided too
    /// often.
    static func parts(of file: BatchFile, body: [UInt8]) -> [EncodedBatch]? {
        guard file.part.utf8.count < BatchID.maxPartLength, let plain = file.plain(body),
            let halves = BodyHalves(plain, signal: file.signal)
        else { return nil }
        return try? [part(of: file, halves.first, "0"), part(of: file, halves.second, "1")]
    }

    private static func part(of file: BatchFile, _ half: BodyHalves.Half, _ digit: String) throws -> EncodedBatch {
        try EncodedBatch(
            half.body, sequence: file.sequence, first: file.first, part: file.part + digit, signal: file.signal,
            requests: half.requests, isCompressed: file.isCompressed)
    }
}
