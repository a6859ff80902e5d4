import Hummingbird

/// Answers HEAD with the header fields of GET, length included, and without the body (RFC 9110, section 9.3.2). The
/// client would take a body for the beginning of the next answer on the connection.
struct HeadMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        guard request.method == .head else { return response }
        var headers = response.headers
        // An answer without a length would be sent in chunks, the last of which is a body.
        if headers[.contentLength] == nil { headers[.contentLength] = String(try await Self.length(of: response.body)) }
        return Response(status: response.status, headers: headers)
    }

    private static func length(of body: ResponseBody) async throws -> Int {
        let counter = ByteCounter()
        try await body.write(counter)
        return counter.bytes
    }
}

private final class ByteCounter: ResponseBodyWriter {
    private(set) var bytes = 0

    func write(_ buffer: ByteBuffer) async throws { bytes += buffer.readableBytes }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
