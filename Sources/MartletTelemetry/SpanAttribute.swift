/// The value of an attribute (specification, "Common", section AnyValue, as far as spans use it).
package enum SpanAttribute: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case double(Double)
    case boolean(Bool)
    case array([SpanAttribute])
}
