import MartletTelemetry

/// What a request's headers say about its body; read before the body is.
package struct IntakeEnvelope: Sendable, Equatable {
    package enum Encoding: Sendable, Equatable {
        case identity
        case gzip
    }

    package var encoding: Encoding
    /// `nil` for senders that name no batch; what they send twice counts twice.
    package var batch: BatchID?

    /// Each parameter is a header's value, `nil` where it is missing.
    package init(
        signal: Signal, contentType: String?, contentEncoding: String?, batch: String?
    ) throws(IntakeRejection) {
        try Self.checkContentType(contentType)
        encoding = try Self.encoding(contentEncoding)
        self.batch = try Self.batch(batch, signal: signal)
    }

    private static func checkContentType(_ value: String?) throws(IntakeRejection) {
        let mediaType = value?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        switch mediaType {
        case "application/x-protobuf": return
        case "application/json":
            throw .unsupported("OTLP as JSON is not taken; send application/x-protobuf")
        case nil: throw .unsupported("the content type is missing; send application/x-protobuf")
        default: throw .unsupported("this content type is not taken; send application/x-protobuf")
        }
    }

    private static func encoding(_ value: String?) throws(IntakeRejection) -> Encoding {
        switch value?.lowercased() {
        case nil, "", "identity": .identity
        case "gzip": .gzip
        default: throw .malformed("this content encoding is not known; send gzip or none")
        }
    }

    private static func batch(_ value: String?, signal: Signal) throws(IntakeRejection) -> BatchID? {
        guard let value else { return nil }
        guard let batch = BatchID(value) else {
            throw .malformed("the header \(BatchID.headerName) is no batch's id, such as instance/sequence/signal")
        }
        guard batch.signal == signal else {
            throw .malformed("the header \(BatchID.headerName) names another signal than the path")
        }
        return batch
    }
}
