/// What is left of the room that the attributes of one span, of its events and of its links have together. A plain value.
package struct AttributeRoom: Sendable {
    private let count: Int
    private let nameBytes: Int
    private let bytes: Int
    /// Names and values that found room until now.
    package private(set) var taken = 0
    /// Attributes that found no room until now.
    package private(set) var dropped: UInt32 = 0

    /// - Parameters:
    ///   - count: attributes that each of them may have.
    ///   - nameBytes: of one attribute's name.
    ///   - bytes: names and values of all of them.
    package init(count: Int, nameBytes: Int, bytes: Int) {
        self.count = count
        self.nameBytes = nameBytes
        self.bytes = bytes
    }

    /// Those that find room, without ``SpanSecrets``. Of attributes with the same name the first is kept; `nil` stands for
    /// a value that cannot be kept.
    package mutating func take(
        _ attributes: some Sequence<(name: String, value: SpanAttribute?)>
    ) -> [String: SpanAttribute] {
        var kept: [String: SpanAttribute] = [:]
        kept.reserveCapacity(min(attributes.underestimatedCount, count))
        for (name, value) in attributes where kept[name] == nil {
            guard let value else {
                dropped &+= 1
                continue
            }
            guard let value = SpanSecrets.plain(value, named: name) else { continue }
            if kept.count < count, take(name, value) { kept[name] = value } else { dropped &+= 1 }
        }
        return kept
    }

    private mutating func take(_ name: String, _ value: SpanAttribute) -> Bool {
        let size = name.utf8.count + value.size
        guard name.utf8.count <= nameBytes, size <= bytes - taken else { return false }
        taken += size
        return true
    }
}

extension SpanAttribute {
    /// Bytes, about.
    fileprivate var size: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .integer, .double, .boolean: 8
        case .array(let elements): elements.reduce(8) { $0 + $1.size }
        }
    }
}
