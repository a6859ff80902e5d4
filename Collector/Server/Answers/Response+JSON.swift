import HTTPTypes
import Hummingbird
import MartletReports

extension Response {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: try ReportJSON.text(of: value))))
    }

    /// Returns an answer that a browser saves as a file.
    ///
    /// - Parameter name: letters, digits, dashes and dots.
    static func json(_ value: some Encodable, saveAs name: String) throws -> Response {
        var response = try json(value)
        response.headers[.contentDisposition] = "attachment; filename=\"\(name)\""
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
