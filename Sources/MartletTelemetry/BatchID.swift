/// A batch's identity, the same at every attempt to send it. The collector stores it with the batch's points, so that a
/// batch that was sent twice is counted once.
///
/// On the wire it is the value of the ``headerName`` header: `instance/sequence/signal`,
/// `instance/first-sequence/signal` for several merged intervals, or `instance/sequence.part/signal` for a part of a
/// batch that was too large.
package struct BatchID: Sendable, Hashable, CustomStringConvertible {
    package static let headerName = "Martlet-Batch"
    /// A header of the answer: the number of requests that this batch's rejected data points stood for.
    package static let rejectedHeaderName = "Martlet-Rejected-Requests"
    /// The longest instance, in bytes. A longer one is refused, so that a hostile header cannot grow the collector's
    /// index.
    package static let maxInstanceLength = 64
    /// The longest part, in characters; a longer one is refused.
    package static let maxPartLength = 16
    /// The maximum number of intervals in a merged batch; an hour has 36,000 intervals of 100 ms.
    package static let maxIntervals: UInt64 = 1 << 20

    /// `service.instance.id` of the process that recorded the batch: letters, digits, `-`, `_` and `.`.
    package var instance: String
    /// The number of the batch's interval, or of the last one if several were merged. An instance's first interval is 1,
    /// and each following interval is one more.
    package var sequence: UInt64
    /// The number of the first interval of the batch.
    package var first: UInt64
    /// The part of the batch: each halving adds a `0` or a `1`. Empty for the whole batch.
    package var part: String
    package var signal: Signal

    /// - Parameter first: `nil` for a batch of one interval.
    package init(instance: String, sequence: UInt64, first: UInt64? = nil, part: String = "", signal: Signal) {
        self.instance = instance
        self.sequence = sequence
        self.first = first ?? sequence
        self.part = part
        self.signal = signal
    }

    /// `nil` if the text has none of the forms above.
    package init?(_ text: String) {
        let fields = text[...].fields(separatedBy: UInt8(ascii: "/"))
        guard fields.count == 3, let signal = Signal(rawValue: String(fields[2])),
            (1...Self.maxInstanceLength).contains(fields[0].utf8.count),
            fields[0].utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        let whole = fields[1].fields(separatedBy: UInt8(ascii: "."), atMost: 2)
        let range = whole[0].fields(separatedBy: UInt8(ascii: "-"), atMost: 2)
        let part = whole.count > 1 ? String(whole[1]) : ""
        guard let first = UInt64(range[0]), let sequence = UInt64(range[range.count - 1]), first <= sequence,
            sequence - first < Self.maxIntervals,
            whole.count == 1 || (1...Self.maxPartLength).contains(part.utf8.count),
            part.utf8.allSatisfy({ $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "1") })
        else { return nil }
        self.init(instance: String(fields[0]), sequence: sequence, first: first, part: part, signal: signal)
    }

    package var description: String {
        let range = first == sequence ? "\(sequence)" : "\(first)-\(sequence)"
        return "\(instance)/\(range)\(part.isEmpty ? "" : ".\(part)")/\(signal.rawValue)"
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension Substring {
    /// Splits at bytes. A split at characters would have to find the characters first.
    fileprivate func fields(separatedBy separator: UInt8, atMost count: Int = .max) -> [Substring] {
        utf8.split(separator: separator, maxSplits: count - 1, omittingEmptySubsequences: false).map(Substring.init)
    }
}

/// The kind of telemetry that a batch carries.
package enum Signal: String, Sendable, Hashable, CaseIterable {
    case metrics
    case traces
}

/// The header of a collector's answers that names its store. Collectors with the same name share a store, so a batch
/// that was sent to two of them is counted once.
package enum StoreHeader {
    package static let name = "Martlet-Store"
    /// The longest identity, in bytes; a longer one is ignored.
    package static let maxLength = 64
}
