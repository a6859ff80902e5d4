import MartletOTLP
import MartletTelemetry

extension [OTLPKeyValue] {
    /// Returns names and values for ``AttributeRoom``, with `nil` for a value that is not kept.
    func named(_ limits: IntakeLimits) -> [(name: String, value: SpanAttribute?)] {
        map { ($0.key, SpanAttribute($0.value, limits)) }
    }

    func spanAttribute(_ name: String, _ limits: IntakeLimits) -> SpanAttribute? {
        first { $0.key == name }.flatMap { SpanAttribute($0.value, limits) }
    }
}

extension SpanAttribute {
    /// `nil` for maps and bytes, which no semantic convention of spans uses, and for arrays of arrays.
    fileprivate init?(_ value: OTLPAnyValue, _ limits: IntakeLimits) {
        guard case .arrayValue(let array)? = value.value else {
            self.init(scalar: value, limits)
            return
        }
        let elements = array.values.prefix(limits.maxAttributeElements).map { SpanAttribute(scalar: $0, limits) }
        guard !elements.contains(nil) else { return nil }
        self = .array(elements.compactMap(\.self))
    }

    private init?(scalar value: OTLPAnyValue, _ limits: IntakeLimits) {
        switch value.value {
        case .stringValue(let text): self = .string(text.storable(upTo: limits.maxTextBytes))
        case .boolValue(let value): self = .boolean(value)
        case .intValue(let number): self = .integer(number)
        case .doubleValue(let number): self = .double(number)
        case .arrayValue, .kvlistValue, .bytesValue, nil: return nil
        }
    }
}
