import MartletOTLP
import MartletTelemetry

/// The headers that describe a request's body. They are read before the body.
package struct IntakeEnvelope: Sendable, Equatable {
    package enum Encoding: Sendable, Equatable {
        case identity
        case gzip
    }

    package var format: IntakeFormat
    package var encoding: Encoding
    /// The batch's id; `nil` if the sender gives none.
    package var batch: BatchID?

    /// Each parameter is the value of a header; `nil` if the header is missing.
    package init(
        signal: Signal, contentType: String?, contentEncoding: String?, batch: String?
    ) throws(IntakeRejection) {
        format = try Self.format(contentType)
        encoding = try Self.encoding(contentEncoding)
        self.batch = try Self.batch(batch, signal: signal)
    }

    /// Returns whether the body may inflate to more than `limit` bytes. It declares its size, unless it has several parts.
    package func mayInflate(_ body: [UInt8], beyond limit: Int) -> Bool {
        switch encoding {
        case .identity: body.count > limit
        case .gzip: (Gzip.inflatedSize(of: body) ?? 0) > limit || Gzip.mayHaveSeveralMembers(body)
        }
    }

    private static func format(_ contentType: String?) throws(IntakeRejection) -> IntakeFormat {
        if let format = IntakeFormat(contentType: contentType) { return format }
        let complaint = contentType == nil ? "the content type is missing" : "the content type is not supported"
        throw .unsupported("\(complaint); send application/x-protobuf or application/json")
    }

    private static func encoding(_ value: String?) throws(IntakeRejection) -> Encoding {
        switch value?.lowercased() {
        case nil, "", "identity": .identity
        // x-gzip is an earlier name of gzip (RFC 9110, section 8.4.1.3).
        case "gzip", "x-gzip": .gzip
        default: throw .malformed("the content encoding is not supported; use gzip or none")
        }
    }

    private static func batch(_ value: String?, signal: Signal) throws(IntakeRejection) -> BatchID? {
        guard let value else { return nil }
        guard let batch = BatchID(value) else {
            throw .malformed("the header \(BatchID.headerName) must be a batch's id, instance/sequence/signal")
        }
        guard batch.signal == signal else {
            throw .malformed("the header \(BatchID.headerName) has a different signal from the path")
        }
        return batch
    }
}

/// The format of an OTLP/HTTP body (OTLP specification, "Binary Protobuf Encoding" and "JSON Protobuf Encoding"). The answer
/// has the request's format.
package enum IntakeFormat: Sendable, Equatable, CaseIterable {
    case protobuf
    case json

    /// `nil` if the content type is not one of OTLP's two.
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
