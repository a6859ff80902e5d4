import MartletTelemetry

/// The header `traceparent` (W3C Trace Context, section 3.2).
struct TraceParent: Sendable, Equatable {
    static let headerName = "traceparent"

    var traceID: TraceID
    /// The span of the caller.
    var spanID: SpanID
    var isSampled: Bool

    /// Parses a header; `nil` for a header that the specification says to ignore.
    ///
    /// A later version is read as if it were version 00 (section 4.3, "Versioning of traceparent").
    init?(_ header: String) {
        let fields = header.utf8.trimmingBlanks.split(
            separator: UInt8(ascii: "-"), maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.count >= 4, fields[0].count == 2, let version = UInt64(hexDigits: fields[0]), version != 0xff,
            version != 0 || fields.count == 4,
            let traceID = TraceID(hexDigits: fields[1]), let spanID = SpanID(hexDigits: fields[2]),
            fields[3].count == 2, let flags = UInt64(hexDigits: fields[3])
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1)
    }

    init(_ context: TraceContext) {
        self.init(traceID: context.traceID, spanID: context.spanID, isSampled: context.isSampled)
    }

    private init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// The header's value in version 00. All flags but `sampled` are zero, as the specification requires of undefined
    /// flags.
    var text: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without blanks and tabs at both ends, which do not belong to a header's value (RFC 9110, section 5.5).
    var trimmingBlanks: SubSequence {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return self[endIndex...] }
        return self[...last].drop(while: isBlank)
    }
}

/// The header `tracestate` (W3C Trace Context, section 3.3). Martlet adds no member and passes on the members of others
/// in their order.
enum TraceState {
    static let headerName = "tracestate"
    /// The largest number of list members (section 3.3.1.1).
    static let maxMembers = 32
    /// The minimum number of characters that must be passed on (section 3.3.1.5). Martlet passes on no more than that.
    static let maxLength = 512
    /// The length, in characters, above which members are dropped first if the list is too long (section 3.3.1.5).
    private static let longMember = 128

    /// Returns the list to pass on. It is empty if the header is empty or breaks a rule, because an invalid list must
    /// be dropped as a whole.
    ///
    /// - Parameter header: the header's value, or the values of several headers joined by commas (RFC 9110, section 5.3).
    static func passedOn(_ header: String) -> String {
        let members = header.utf8.split(separator: UInt8(ascii: ",")).map(\.trimmingBlanks).filter { !$0.isEmpty }
        let keys = members.compactMap(key)
        guard keys.count == members.count, members.count <= maxMembers, Set(keys).count == keys.count else { return "" }
        return shortened(members.map { String(Substring($0)) }).joined(separator: ",")
    }

    private static func shortened(_ members: [String]) -> [String] {
        var members = members
        while members.reduce(-1, { $0 + $1.utf8.count + 1 }) > maxLength {
            members.remove(at: members.lastIndex { $0.utf8.count > longMember } ?? members.count - 1)
        }
        return members
    }

    /// Returns the key of a member; `nil` unless the member is `key=value` and both contain only allowed characters.
    private static func key(of member: Substring.UTF8View) -> Substring? {
        guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let (key, value) = (member[..<equals], member[member.index(after: equals)...])
        guard (1...256).contains(key.count), key.first.map(isLowerCaseOrDigit) == true, key.allSatisfy(isKeyByte),
            (1...256).contains(value.count), value.allSatisfy(isValueByte)
        else { return nil }
        return Substring(key)
    }

    private static func isLowerCaseOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Returns whether a key may contain the byte, by level 2 of the specification. Level 1 allows the same characters
    /// with more restrictions on their order.
    private static func isKeyByte(_ byte: UInt8) -> Bool { isLowerCaseOrDigit(byte) || "_-*/@".utf8.contains(byte) }

    private static func isValueByte(_ byte: UInt8) -> Bool {
        (0x20...0x7e).contains(byte) && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "=")
    }
}
