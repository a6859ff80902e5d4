/// A figure whose key is always present in JSON, with `null` if it is not known.
@propertyWrapper
package struct NullIfUnknown: Sendable, Equatable, Codable {
    package var wrappedValue: Double?

    package init(wrappedValue: Double?) {
        self.wrappedValue = wrappedValue
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Double.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}
