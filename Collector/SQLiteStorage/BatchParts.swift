/// Which parts of a batch arrived. Two halves are what they are halves of, so that all parts are the part `""`, the whole.
struct BatchParts: Equatable {
    /// None of them is within another.
    private(set) var parts: Set<String>

    init(_ parts: Set<String> = []) {
        self.parts = parts
    }

    var isWhole: Bool { parts.contains("") }

    /// Whether the part arrived, by itself or within a larger one.
    func contains(_ part: String) -> Bool { parts.contains { part.hasPrefix($0) } }

    /// Whether something of it did.
    func overlaps(_ part: String) -> Bool { contains(part) || parts.contains { $0.hasPrefix(part) } }

    mutating func insert(_ part: String) {
        var part = part
        while !part.isEmpty, parts.contains(Self.otherHalf(of: part)) { part.removeLast() }
        parts = parts.filter { !$0.hasPrefix(part) }
        parts.insert(part)
    }

    private static func otherHalf(of part: String) -> String {
        part.dropLast() + (part.last == "0" ? "1" : "0")
    }
}
