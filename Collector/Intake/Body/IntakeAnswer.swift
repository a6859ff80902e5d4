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
