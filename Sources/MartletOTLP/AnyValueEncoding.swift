import MartletTelemetry

extension OTLPAnyValue {
    init(_ attribute: SpanAttribute) {
        self.init()
        switch attribute {
        case .string(let text): stringValue = text
        case .integer(let number): intValue = number
        case .double(let number): doubleValue = number
        case .boolean(let value): boolValue = value
        case .array(let elements): arrayValue.values = elements.map(OTLPAnyValue.init)
        }
    }
}

extension [OTLPKeyValue] {
    /// In the order of their names, so that the same span has the same bytes.
    init(_ attributes: [String: SpanAttribute]) {
        self = attributes.sorted { $0.key < $1.key }.map { name, value in
            var pair = OTLPKeyValue()
            pair.key = name
            pair.value = OTLPAnyValue(value)
            return pair
        }
    }
}
