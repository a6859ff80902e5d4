/// The parts of a batch that arrived. Two halves join to the part that they were cut from, so all parts together are the part
/// `""`, the whole.
package struct BatchParts: Sendable, Equatable {
    /// The joined parts; no part lies within another.
    package private(set) var parts: Set<String>

    package init(_ parts: Set<String> = []) {
        self.parts = parts
    }

    package var isWhole: Bool { parts.contains("") }

    /// Whether the part arrived, by itself or within a larger one.
    package func contains(_ part: String) -> Bool { parts.contains { part.hasPrefix($0) } }

    /// Whether anything of the part arrived.
    package func overlaps(_ part: String) -> Bool { contains(part) || parts.contains { $0.hasPrefix(part) } }

    package mutating func insert(_ part: String) {
        var part = part
        while !part.isEmpty, parts.contains(Self.otherHalf(of: part)) { part.removeLast() }
        parts = parts.filter { !$0.hasPrefix(part) }
        parts.insert(part)
    }

    private static func otherHalf(of part: String) -> String {
        part.dropLast() + (part.last == "0" ? "1" : "0")
    }
}
