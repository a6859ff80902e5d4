import MartletOTLP
import MartletTelemetry

/// What a request's headers say about its body; read before the body is.
package struct IntakeEnvelope: Sendable, Equatable {
    package enum Encoding: Sendable, Equatable {
        case identity
        case gzip
    }

    package var format: IntakeFormat
    package var encoding: Encoding
    /// `nil` for senders that name no batch.
    package var batch: BatchID?

    /// Each parameter is a header's value, `nil` where it is missing.
    package init(
        signal: Signal, contentType: String?, contentEncoding: String?, batch: String?
    ) throws(IntakeRejection) {
        format = try Self.format(contentType)
        encoding = try Self.encoding(contentEncoding)
        self.batch = try Self.batch(batch, signal: signal)
    }

    /// How large the body says that it is; one that is larger is refused.
    package func inflatedSize(of body: [UInt8]) -> Int {
        switch encoding {
        case .identity: body.count
        case .gzip: Gzip.inflatedSize(of: body) ?? 0
        }
    }

    private static func format(_ contentType: String?) throws(IntakeRejection) -> IntakeFormat {
        if let format = IntakeFormat(contentType: contentType) { return format }
        let complaint = contentType == nil ? "the content type is missing" : "this content type is not taken"
        throw .unsupported("\(complaint); send application/x-protobuf or application/json")
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
