import Hummingbird

/// Lets as many read at once as there is room for, each until its answer was sent.
struct ReadRoomMiddleware<Context: RequestContext>: RouterMiddleware {
    let room: ReadRoom

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let place = try await room.enter() else {
            var response = try Response.json(
                Problem(error: "too many read at once; try again later"), status: .serviceUnavailable)
            response.headers[.retryAfter] = "\(ServerLimits.retryAfterSeconds)"
            return response
        }
        return try await next(request, context).holding(place)
    }
}

extension Response {
    /// The same, which has `place` until it was sent or dropped.
    fileprivate func holding(_ place: ReadRoom.Place) -> Response {
        var response = self
        response.body = ResponseBody(contentLength: body.contentLength) { [body] writer in
            defer { withExtendedLifetime(place) {} }
            try await body.write(writer)
        }
        return response
    }
}
