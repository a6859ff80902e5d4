/// In which of its two forms a body of OTLP/HTTP is written (OTLP specification, "Binary Protobuf Encoding" and "JSON
/// Protobuf Encoding"). The answer has the form of the request.
package enum IntakeFormat: Sendable, Equatable, CaseIterable {
    case protobuf
    case json

    /// - Parameter contentType: a header's value; its parameters and its case do not count. `nil` for any other type.
    package init?(contentType: String?) {
        // As nearly all senders write it.
        if contentType == Self.protobuf.contentType {
            self = .protobuf
            return
        }
        let mediaType = contentType?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard let format = Self.allCases.first(where: { $0.contentType == mediaType }) else { return nil }
        self = format
    }

    package var contentType: String {
        switch self {
        case .protobuf: "application/x-protobuf"
        case .json: "application/json"
        }
    }
}
