/// The room for attributes that one span, its events and its links share. A plain value.
package struct AttributeRoom: Sendable {
    private let count: Int
    private let nameBytes: Int
    private let bytes: Int
    /// Bytes of the names and values that found room so far.
    package private(set) var taken = 0
    /// Attributes that found no room so far.
    package private(set) var dropped: UInt32 = 0

    /// - Parameters:
    ///   - count: attributes that the span, each event and each link may have.
    ///   - nameBytes: bytes that the name of an attribute may have.
    ///   - bytes: bytes that all names and values may have together.
    package init(count: Int, nameBytes: Int, bytes: Int) {
        self.count = count
        self.nameBytes = nameBytes
        self.bytes = bytes
    }

    /// Returns the attributes that find room, with secrets removed by ``SpanSecrets``. The first of several attributes
    /// with the same name is kept. A value that cannot be kept is `nil` and counts as dropped.
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
    /// The approximate size in bytes.
    fileprivate var size: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .integer, .double, .boolean: 8
        case .array(let elements): elements.reduce(8) { $0 + $1.size }
        }
    }
}
