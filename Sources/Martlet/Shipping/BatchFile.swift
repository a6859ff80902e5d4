import Foundation
import MartletOTLP
import MartletTelemetry

/// A batch on disk: exactly the bytes of the body to post. Its name holds everything else, so that a directory listing
/// is enough to account for it (docs/internals/buffer.md):
/// `[<first>+]<sequence>[.<part>]-<signal>-<requests>-<CRC-32>[.sent[.<place>]].otlp[.gz]`.
struct BatchFile: Sendable, Hashable {
    /// The sequence of the batch's interval, or of the last one if several were merged.
    var sequence: UInt64
    /// The sequence of the batch's first interval.
    var first: UInt64
    /// The part of a batch that was too large, ``BatchID/part``; empty for a whole batch.
    var part: String
    var signal: Signal
    /// The number of requests; 0 for details, whose requests the metrics count.
    var requests: UInt64
    /// The CRC-32 of the file.
    var checksum: UInt32
    /// Whether an upload of the batch was attempted. If so, it may only be sent again unchanged.
    var mayHaveArrived: Bool
    /// The collector that may have the batch; `nil` if no upload was attempted, or no collector can have it.
    var place: PossibleHolder?
    var isCompressed: Bool

    /// - Parameter first: `nil` for a batch of one interval.
    init(
        sequence: UInt64, first: UInt64? = nil, part: String = "", signal: Signal, requests: UInt64,
        isCompressed: Bool, body: [UInt8]
    ) {
        self.sequence = sequence
        self.first = first ?? sequence
        self.part = part
        self.signal = signal
        self.requests = requests
        checksum = Gzip.crc32(body)
        mayHaveArrived = false
        self.isCompressed = isCompressed
    }

    func id(of instance: String) -> BatchID {
        BatchID(instance: instance, sequence: sequence, first: first, part: part, signal: signal)
    }

    func isWhole(_ body: [UInt8]) -> Bool { Gzip.crc32(body) == checksum }

    /// Returns the body without compression. `nil` if it is not gzip although it should be, or would inflate to more
    /// than ``MartletLimits/plainBodyBytes``.
    func plain(_ body: [UInt8]) -> [UInt8]? {
        isCompressed ? try? Gzip.decompress(body, limit: MartletLimits.plainBodyBytes) : body
    }

    /// Returns whether this batch was made by merging the other, or the other by splitting this one. If so, the other
    /// is left over from a crash.
    func supersedes(_ other: BatchFile) -> Bool {
        guard signal == other.signal, first <= other.first, other.sequence <= sequence else { return false }
        if first == other.first, sequence == other.sequence { return other.part != part && other.part.hasPrefix(part) }
        return part.isEmpty
    }
}

// MARK: The name

extension BatchFile {
    private static let suffix = ".otlp"
    private static let compressedSuffix = ".otlp.gz"
    private static let sent = "sent"

    var name: String {
        let range = first == sequence ? Self.padded(sequence) : "\(Self.padded(first))+\(Self.padded(sequence))"
        let digits = String(checksum, radix: 16)
        let padding = String(repeating: "0", count: 8 - digits.count)
        return "\(range)\(part.isEmpty ? "" : ".\(part)")-\(signal.rawValue)-\(requests)-\(padding)\(digits)"
            + mark + (isCompressed ? Self.compressedSuffix : Self.suffix)
    }

    private var mark: String { mayHaveArrived ? ".\(Self.sent)" + (place.map { "." + $0.text } ?? "") : "" }

    /// Reads a file's name; `nil` if it is not the name of a batch.
    init?(name: String) {
        var rest = name[...]
        isCompressed = rest.removeSuffix(Self.compressedSuffix)
        guard isCompressed || rest.removeSuffix(Self.suffix) else { return nil }
        let fields = rest.split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 4, let signal = Signal(rawValue: String(fields[1])), let requests = UInt64(fields[2])
        else { return nil }
        let marks = fields[3].split(separator: ".", omittingEmptySubsequences: false)
        guard let checksum = UInt32(marks[0], radix: 16) else { return nil }
        mayHaveArrived = marks.count > 1 && marks[1] == Self.sent
        place = PossibleHolder(digests: marks.dropFirst(2))
        let sequences = fields[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let range = sequences[0].split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = UInt64(range[0]), let sequence = UInt64(range[range.count - 1]), first <= sequence,
            sequence - first < BatchID.maxIntervals
        else {
            return nil
        }
        part = sequences.count > 1 ? String(sequences[1]) : ""
        (self.first, self.sequence, self.signal) = (first, sequence, signal)
        (self.requests, self.checksum) = (requests, checksum)
        // A batch has exactly one name, and its part must be allowed in an id.
        guard name == self.name, part.utf8.count <= BatchID.maxPartLength, part.allSatisfy({ $0 == "0" || $0 == "1" })
        else { return nil }
    }

    /// Reads the name of a temporary file, whose write was interrupted.
    init?(temporaryName: String) {
        guard temporaryName.hasSuffix(WholeFile.temporarySuffix) else { return nil }
        self.init(name: String(temporaryName.dropLast(WholeFile.temporarySuffix.count)))
    }

    /// Returns the sequence with leading zeroes, so that sorted names are in the order of sequences.
    private static func padded(_ sequence: UInt64) -> String {
        let digits = String(sequence)
        return String(repeating: "0", count: 20 - digits.count) + digits
    }
}

extension Substring {
    fileprivate mutating func removeSuffix(_ suffix: String) -> Bool {
        guard hasSuffix(suffix) else { return false }
        removeLast(suffix.count)
        return true
    }
}

/// A batch that is ready to be stored and posted: its body, and the name of its file.
struct EncodedBatch {
    var file: BatchFile
    let body: [UInt8]
}

extension EncodedBatch {
    /// Makes a batch of a message, compressed with gzip if `isCompressed`. Throws if there is no memory for it.
    ///
    /// - Parameters:
    ///   - message: the bytes of an OTLP message.
    ///   - first: the sequence of the first interval in the batch; `nil` for a batch of one interval.
    ///   - requests: the number of requests; 0 for details.
    init(
        _ message: [UInt8], sequence: UInt64, first: UInt64? = nil, part: String = "", signal: Signal, requests: UInt64,
        isCompressed: Bool
    ) throws {
        body = isCompressed ? try Gzip.compress(message) : message
        file = BatchFile(
            sequence: sequence, first: first, part: part, signal: signal, requests: requests,
            isCompressed: isCompressed, body: body)
    }
}
