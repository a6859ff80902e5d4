/// The header `tracestate` (W3C Trace Context, section 3.3). Martlet adds nothing of its own and passes on what others
/// put there, in their order.
enum TraceState {
    static let headerName = "tracestate"
    /// List members (section 3.3.1.1).
    static let maxMembers = 32
    /// Characters that are passed on at least (section 3.3.1.5); Martlet passes on no more.
    static let maxLength = 512
    /// Where the list is too long, members longer than this go first (section 3.3.1.5).
    private static let longMember = 128

    /// The list to pass on; empty where there is none, or it breaks a rule: an invalid list is dropped as a whole.
    ///
    /// - Parameter header: the value, several headers' joined by commas (RFC 9110, section 5.3).
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

    /// `nil` unless the member is `key=value`, both of the characters that they may have.
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

    /// Level 2's characters; level 1 allows the same but in a narrower order.
    private static func isKeyByte(_ byte: UInt8) -> Bool { isLowerCaseOrDigit(byte) || "_-*/@".utf8.contains(byte) }

    private static func isValueByte(_ byte: UInt8) -> Bool {
        (0x20...0x7e).contains(byte) && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "=")
    }
}
