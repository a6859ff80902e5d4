import HTTPTypes
import Hummingbird
import MartletIntake
import MartletReports

extension Response {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: try ReportJSON.text(of: value))))
    }

    /// Returns the answer with the time after which its client may try again (RFC 9110, section 10.2.3).
    func retryable(after seconds: Int = ServerLimits.retryAfterSeconds) -> Response {
        var response = self
        response.headers[.retryAfter] = String(seconds)
        return response
    }

    /// The answer to a reader without the token.
    static var readTokenMissing: Response {
        get throws {
            try json(
                Problem(error: "the read token is missing or wrong; use --read-token or a Bearer header"),
                status: .unauthorized)
        }
    }
}

/// The body of an answer that is not a success.
struct Problem: Encodable {
    var error: String
}

extension Response {
    static func otlp(status: HTTPResponse.Status, _ body: [UInt8], _ format: IntakeFormat) -> Response {
        Response(
            status: status, headers: [.contentType: format.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// Returns a failure with a google.rpc.Status, in the format of the request. If the request's content type is not one of
    /// OTLP's two, the format is protobuf.
    static func otlpFailure(status: Int, message: String, to request: Request) throws -> Response {
        let format = IntakeFormat(contentType: request.headers[.contentType]) ?? .protobuf
        let body = try IntakeAnswer.failure(status: status, message: message, in: format)
        let response = otlp(status: HTTPResponse.Status(code: status), body, format)
        return [429, 503].contains(status) ? response.retryable() : response
    }
}

extension RouterMethods {
    /// Answers every method that a path does not have with 405, and lists the path's methods (RFC 9110, section 15.5.6).
    ///
    /// - Parameters:
    ///   - methods: the methods of the path. GET implies HEAD.
    ///   - answer: returns the body for a sentence that people read. Its status is replaced.
    func refuseOtherMethods(
        at path: RouterPath, than methods: [HTTPRequest.Method] = [.get],
        _ answer: @escaping @Sendable (String) throws -> Response = { try Response.json(Problem(error: $0)) }
    ) {
        let allowed = methods.flatMap { $0 == .get ? [.get, .head] : [$0] }
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        for method in knownMethods where !allowed.contains(method) {
            on(path, method: method) { _, _ in
                var response = try answer("the allowed methods are \(names)")
                response.status = .methodNotAllowed
                response.headers[.allow] = names
                return response
            }
        }
    }
}

private let knownMethods: [HTTPRequest.Method] =
    [.get, .head, .post, .put, .patch, .delete, .options, .trace]
    + [HTTPRequest.Method(rawValue: "QUERY")].compactMap(\.self)
