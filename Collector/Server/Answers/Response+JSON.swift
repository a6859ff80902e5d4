import HTTPTypes
import Hummingbird
import MartletReports

extension Response {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: try ReportJSON.text(of: value))))
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
