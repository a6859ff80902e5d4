import Hummingbird

/// Header fields of every answer that does not set them itself. A browser must not guess an answer's type, keep, frame or run
/// the answer, or tell other sites its address. The page has a policy of its own.
struct SecurityHeaders<Context: RequestContext>: RouterMiddleware {
    private let fields: [HTTPFields.Element] = [
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
    ].compactMap { name, value in
        HTTPFields.Element.Name(name).map { HTTPFields.Element(name: $0, value: value) }
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        for field in fields where response.headers[field.name] == nil { response.headers.append(field) }
        return response
    }
}
