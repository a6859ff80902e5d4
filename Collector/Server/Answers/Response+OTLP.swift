import Hummingbird
import MartletIntake

extension Response {
    static func otlp(status: HTTPResponse.Status, _ body: [UInt8], _ format: IntakeFormat) -> Response {
        Response(
            status: status, headers: [.contentType: format.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// Returns a failure with a google.rpc.Status, in the format of the request; in protobuf if the request's content
    /// type is neither of OTLP's two.
    static func otlpFailure(status: Int, message: String, to request: Request) throws -> Response {
        let format = IntakeFormat(contentType: request.headers[.contentType]) ?? .protobuf
        let body = try IntakeAnswer.failure(status: status, message: message, in: format)
        var response = otlp(status: HTTPResponse.Status(code: status), body, format)
        if [429, 503].contains(status) { response.headers[.retryAfter] = String(ServerLimits.retryAfterSeconds) }
        return response
    }
}
