import MartletOTLP
import MartletTelemetry

/// The parts that replace a batch that is too large.
enum BatchSplit {
    /// Returns two parts of a batch; `nil` if it cannot be divided: one series, one span, or a part that was divided too
    /// often.
    static func parts(of file: BatchFile, body: [UInt8]) -> [(file: BatchFile, body: [UInt8])]? {
        guard file.part.utf8.count < BatchID.maxPartLength, let plain = file.plain(body),
            let halves = BatchHalves(plain, signal: file.signal)
        else { return nil }
        return part(of: file, halves.first, "0").flatMap { first in
            part(of: file, halves.second, "1").map { [first, $0] }
        }
    }

    private static func part(
        of file: BatchFile, _ half: BatchHalves.Half, _ digit: String
    ) -> (file: BatchFile, body: [UInt8])? {
        guard let body = file.isCompressed ? try? Gzip.compress(half.body) : half.body else { return nil }
        let part = BatchFile(
            sequence: file.sequence, first: file.first, part: file.part + digit, signal: file.signal,
            requests: half.requests, isCompressed: file.isCompressed, body: body)
        return (part, body)
    }
}

extension BatchFile {
    /// Returns the body without compression; `nil` if it is not gzip although it should be, or inflates to more than
    /// ``MartletLimits/plainBodyBytes``.
    func plain(_ body: [UInt8]) -> [UInt8]? {
        isCompressed ? try? Gzip.decompress(body, limit: MartletLimits.plainBodyBytes) : body
    }
}
