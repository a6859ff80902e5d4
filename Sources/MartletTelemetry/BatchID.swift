/// What a batch carries.
package enum Signal: String, Sendable, Hashable, CaseIterable {
    case metrics
    case traces
}

/// A batch's identity, the same at every attempt to send it: the collector stores it with the batch's points, so that a
/// batch that was sent twice counts once. On the wire the value of the ``headerName`` header: `instance/sequence/signal`.
package struct BatchID: Sendable, Hashable, CustomStringConvertible {
    package static let headerName = "Martlet-Batch"
    /// A longer instance is refused, so that a hostile header cannot grow the collector's index.
    package static let maxInstanceLength = 64

    /// `service.instance.id` of the process that recorded it: letters, digits, `-`, `_` and `.`.
    package var instance: String
    /// 1 for an instance's first batch, and one more for each that follows.
    package var sequence: UInt64
    package var signal: Signal

    package init(instance: String, sequence: UInt64, signal: Signal) {
        self.instance = instance
        self.sequence = sequence
        self.signal = signal
    }

    /// `nil` when the text is not `instance/sequence/signal`.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let sequence = UInt64(parts[1]), let signal = Signal(rawValue: String(parts[2])),
            (1...Self.maxInstanceLength).contains(parts[0].utf8.count),
            parts[0].utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        self.init(instance: String(parts[0]), sequence: sequence, signal: signal)
    }

    package var description: String { "\(instance)/\(sequence)/\(signal.rawValue)" }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
