import MartletOTLP
import SwiftProtobuf

/// The bodies of answers to OTLP requests, in the format of the request (OTLP specification, "OTLP/HTTP Response").
package enum IntakeAnswer {
    package static func metrics(_ refusals: Refusals, in format: IntakeFormat) throws -> [UInt8] {
        var response = OTLPExportMetricsServiceResponse()
        if refusals.total > 0 {
            response.partialSuccess.rejectedDataPoints = Int64(refusals.total)
            response.partialSuccess.errorMessage = refusals.message
        }
        return try bytes(of: response, in: format)
    }

    package static func traces(_ refusals: Refusals, in format: IntakeFormat) throws -> [UInt8] {
        var response = OTLPExportTraceServiceResponse()
        if refusals.total > 0 {
            response.partialSuccess.rejectedSpans = Int64(refusals.total)
            response.partialSuccess.errorMessage = refusals.message
        }
        return try bytes(of: response, in: format)
    }

    /// Returns a google.rpc.Status for an answer that is not a success.
    package static func failure(status: Int, message: String, in format: IntakeFormat) throws -> [UInt8] {
        var body = RPCStatus()
        body.code = code(for: status)
        body.message = message
        return try bytes(of: body, in: format)
    }

    private static func bytes(of message: some Message, in format: IntakeFormat) throws -> [UInt8] {
        switch format {
        case .protobuf: try message.serializedBytes()
        case .json: try message.jsonUTF8Bytes()
        }
    }

    /// Returns the google.rpc.Code of an HTTP status, by the mapping in the comments of google.rpc.Code.
    private static func code(for status: Int) -> Int32 {
        switch status {
        case 401: 16  // UNAUTHENTICATED
        case 404: 5  // NOT_FOUND
        case 405: 12  // UNIMPLEMENTED
        case 413, 429: 8  // RESOURCE_EXHAUSTED
        case 503: 14  // UNAVAILABLE
        case 400..<500: 3  // INVALID_ARGUMENT
        default: 13  // INTERNAL
        }
    }
}

/// The rejection of a request: an HTTP status and a sentence. A sender retries only after a 429 or a 503 (OTLP specification,
/// "Retryable Response Codes").
package struct IntakeRejection: Error, Sendable, Equatable {
    package var status: Int
    package var message: String

    static func malformed(_ message: String) -> IntakeRejection {
        IntakeRejection(status: 400, message: message)
    }

    static let notProtobuf = malformed("the body is not an OTLP protobuf message")

    package static func tooLarge(limit: Int) -> IntakeRejection {
        IntakeRejection(
            status: 413, message: "the body has more than \(limit) bytes, before or after inflating; send it in parts")
    }

    /// The rejection of a body whose messages would take too much memory: a few bytes can encode many messages.
    static func tooManyMessages(limit: Int) -> IntakeRejection {
        IntakeRejection(
            status: 413, message: "the body would take more than \(limit) bytes of memory; send it in parts")
    }

    /// The rejection of a request for which no memory is left, because of other requests in progress.
    package static let busy = IntakeRejection(
        status: 429, message: "the collector has no memory left for this request; send it again later")

    /// The rejection of a body that ends early. The connection is gone, so hardly any client reads it.
    package static let cutOff = malformed("the body ends early")

    static func unsupported(_ message: String) -> IntakeRejection {
        IntakeRejection(status: 415, message: message)
    }
}
