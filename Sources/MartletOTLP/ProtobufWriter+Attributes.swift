import MartletTelemetry

extension ProtobufWriter {
    /// Writes each attribute as a KeyValue, sorted by name, so that equal spans have equal bytes.
    mutating func attributes(_ attributes: [String: SpanAttribute], field: UInt8) {
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { attribute(name, value, field: field) }
    }

    /// Writes the attributes that metrics and spans have in common.
    mutating func attributes(_ dimensions: RequestDimensions, field: UInt8) {
        for (name, value) in dimensions.attributes { attribute(name, value, field: field) }
    }

    mutating func attribute(_ name: String, _ value: SpanAttribute, field: UInt8) {
        message(field: field) { pair in
            pair.text(name, field: 1)
            pair.message(field: 2) { $0.value(value) }
        }
    }

    /// Writes the value as the one field of an AnyValue. The field says which kind the value has, so it is written even
    /// for a default value.
    private mutating func value(_ attribute: SpanAttribute) {
        switch attribute {
        case .string(let text): self.text(text, field: 1, always: true)
        case .boolean(let value): varint(value ? 1 : 0, field: 2, always: true)
        case .integer(let number): varint(UInt64(bitPattern: number), field: 3, always: true)
        case .double(let number): fixed64(number.bitPattern, field: 4, always: true)
        case .array(let elements):
            message(field: 5) { array in
                for element in elements { array.message(field: 1) { $0.value(element) } }
            }
        }
    }
}
