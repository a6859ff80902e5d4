import Foundation
import MartletTelemetry

/// A batch on disk: the body to post, as it will be posted. What else is known of it stands in its name, so that a
/// directory's listing is enough to account for it: `00000000000000000012-metrics-345.otlp.gz` is the instance's twelfth
/// batch, stands for 345 requests and is compressed.
struct BatchFile: Sendable, Equatable {
    var sequence: UInt64
    var signal: Signal
    /// 0 for details: their requests are counted in the metrics.
    var requests: UInt64
    var isCompressed: Bool

    private static let suffix = ".otlp"
    private static let compressedSuffix = ".otlp.gz"

    var name: String {
        let digits = String(sequence)
        let padded = String(repeating: "0", count: 20 - digits.count) + digits
        return "\(padded)-\(signal.rawValue)-\(requests)\(isCompressed ? Self.compressedSuffix : Self.suffix)"
    }

    init(sequence: UInt64, signal: Signal, requests: UInt64, isCompressed: Bool) {
        self.sequence = sequence
        self.signal = signal
        self.requests = requests
        self.isCompressed = isCompressed
    }

    /// `nil` for a name that no batch has.
    init?(name: String) {
        isCompressed = name.hasSuffix(Self.compressedSuffix)
        guard isCompressed || name.hasSuffix(Self.suffix) else { return nil }
        let parts = name.dropLast((isCompressed ? Self.compressedSuffix : Self.suffix).count).split(separator: "-")
        guard parts.count == 3, let sequence = UInt64(parts[0]), let signal = Signal(rawValue: String(parts[1])),
            let requests = UInt64(parts[2])
        else { return nil }
        self.sequence = sequence
        self.signal = signal
        self.requests = requests
        guard name == self.name else { return nil }
    }

    /// The batch that a file was going to be when its write was cut off.
    init?(temporaryName: String) {
        guard temporaryName.hasSuffix(WholeFile.temporarySuffix) else { return nil }
        self.init(name: String(temporaryName.dropLast(WholeFile.temporarySuffix.count)))
    }
}
