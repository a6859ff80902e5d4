import MartletOTLP
import SwiftProtobuf

extension Intake {
    /// Returns the inflated body. Throws if the body or the messages built from it exceed a limit.
    func bytes(
        of body: consuming [UInt8], _ shape: MessageShape, _ encoding: IntakeEnvelope.Encoding, _ format: IntakeFormat,
        _ reserve: MemoryReservation
    ) throws(IntakeRejection) -> [UInt8] {
        let bytes = try inflated(body, encoding, reserve)
        let weight = try weight(of: bytes, shape, format)
        try reserve(bytes.count + weight)
        return bytes
    }

    private func inflated(
        _ body: consuming [UInt8], _ encoding: IntakeEnvelope.Encoding, _ reserve: MemoryReservation
    ) throws(IntakeRejection) -> [UInt8] {
        guard body.count <= limits.maxBodyBytes else { throw .tooLarge(limit: limits.maxBodyBytes) }
        guard encoding == .gzip else { return body }
        // The stream may not inflate to more than the size that it declares.
        guard let size = Gzip.inflatedSize(of: body) else { throw .malformed("the body is not a gzip stream") }
        guard size <= limits.maxBodyBytes else { throw .tooLarge(limit: limits.maxBodyBytes) }
        try reserve(body.count + size)
        do {
            return try Gzip.decompress(body, limit: size)
        } catch {
            switch error {
            case .malformed(let reason): throw .malformed(reason)
            case .tooLarge: throw .malformed("the gzip stream is damaged: it inflates to more than the size at its end")
            case .outOfMemory:
                throw IntakeRejection(
                    status: 503, message: "there is no memory to inflate the body; send it again later")
            }
        }
    }

    private func weight(
        of bytes: [UInt8], _ shape: MessageShape, _ format: IntakeFormat
    ) throws(IntakeRejection) -> Int {
        guard bytes.count > limits.lightBodyBytes else { return bytes.count }
        switch format {
        case .protobuf: return try ProtobufWeight.of(bytes, as: shape, limit: limits.maxMessageBytes)
        case .json: return try JSONWeight.of(bytes, limit: limits.maxMessageBytes)
        }
    }

    static func decoded<Body: Message>(
        _ bytes: consuming [UInt8], _ format: IntakeFormat
    ) throws(IntakeRejection) -> Body {
        do {
            switch format {
            case .protobuf: return try Body(serializedBytes: bytes, options: .otlp)
            case .json: return try Body(jsonUTF8Bytes: bytes, options: .otlp)
            }
        } catch {
            throw format == .protobuf ? .notProtobuf : .malformed("the body is not an OTLP JSON message")
        }
    }
}

extension JSONDecodingOptions {
    /// Receivers must ignore fields that they do not know (OTLP specification, "JSON Protobuf Encoding").
    fileprivate static let otlp: JSONDecodingOptions = {
        var options = JSONDecodingOptions()
        options.ignoreUnknownFields = true
        return options
    }()
}
