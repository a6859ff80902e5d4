/// The format of a body of OTLP/HTTP (OTLP specification, "Binary Protobuf Encoding" and "JSON Protobuf Encoding"). The
/// answer has the format of the request.
package enum IntakeFormat: Sendable, Equatable, CaseIterable {
    case protobuf
    case json

    /// `nil` if the content type is neither of OTLP's two.
    ///
    /// - Parameter contentType: the header's value. Its parameters and its case are ignored.
    package init?(contentType: String?) {
        // Nearly all senders write the content type exactly like this.
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
