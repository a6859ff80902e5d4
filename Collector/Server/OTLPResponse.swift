import Hummingbird
import MartletIntake

extension Response {
    static func otlp(status: HTTPResponse.Status, _ body: [UInt8]) -> Response {
        Response(
            status: status, headers: [.contentType: IntakeAnswer.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// With a google.rpc.Status, whatever the request's content type was.
    static func otlpFailure(status: Int, message: String) throws -> Response {
        otlp(
            status: HTTPResponse.Status(code: status), try IntakeAnswer.failure(status: status, message: message))
    }
}
