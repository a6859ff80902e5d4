/// The id of a kept span as people see it: the key of its row, as three numbers in the digits 0 to 9 and a to z. They make a
/// row quick to find, and the same span has the same id however often it came.
struct DetailID: CustomStringConvertible {
    /// The lower half of the trace's id.
    let trace: UInt64
    let span: UInt64
    let identity: UInt64

    init(trace: UInt64, span: UInt64, identity: UInt64) {
        (self.trace, self.span, self.identity) = (trace, span, identity)
    }

    /// Returns `nil` if the text is no such id.
    init?(_ text: String) {
        guard text.utf8.count == 3 * Self.digits else { return nil }
        let parts = stride(from: 0, to: 3 * Self.digits, by: Self.digits).map { first in
            UInt64(String(text.dropFirst(first).prefix(Self.digits)), radix: 36)
        }
        guard let trace = parts[0], let span = parts[1], let identity = parts[2] else { return nil }
        self.init(trace: trace, span: span, identity: identity)
    }

    /// Digits of a number of 64 bits.
    private static let digits = 13

    var description: String {
        [trace, span, identity].map { number in
            let text = String(number, radix: 36)
            return String(repeating: "0", count: Self.digits - text.count) + text
        }.joined()
    }

    /// The condition on the row.
    var condition: String { "trace_low = \(trace) AND span = \(span) AND identity = \(identity)" }
}
