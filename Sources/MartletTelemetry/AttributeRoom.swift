/// What is left of the room that the attributes of one span, of its events and of its links have together. A plain value.
package struct AttributeRoom: Sendable {
    private let count: Int
    private let nameBytes: Int
    private var bytes: Int

    /// - Parameters:
    ///   - count: attributes that each of them may have.
    ///   - nameBytes: of one attribute's name.
    ///   - bytes: names and values of all of them.
    package init(count: Int, nameBytes: Int, bytes: Int) {
        self.count = count
        self.nameBytes = nameBytes
        self.bytes = bytes
    }

    /// Those that find room, without ``SpanSecrets``, and how many do not. Of attributes with the same name the first is
    /// kept; `nil` stands for a value that cannot be kept.
    package mutating func take(
        _ attributes: some Sequence<(name: String, value: SpanAttribute?)>
    ) -> (kept: [String: SpanAttribute], dropped: UInt32) {
        var kept: [String: SpanAttribute] = [:]
        var dropped: UInt32 = 0
        for (name, value) in attributes where kept[name] == nil {
            guard let value else {
                dropped &+= 1
                continue
            }
            guard let value = SpanSecrets.plain(value, named: name) else { continue }
            if kept.count < count, take(name, value) { kept[name] = value } else { dropped &+= 1 }
        }
        return (kept, dropped)
    }

    private mutating func take(_ name: String, _ value: SpanAttribute) -> Bool {
        let size = name.utf8.count + value.size
        guard name.utf8.count <= nameBytes, size <= bytes else { return false }
        bytes -= size
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
