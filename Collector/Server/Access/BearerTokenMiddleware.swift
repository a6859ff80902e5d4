import HTTPTypes
import Hummingbird
import Logging

/// Lets senders pass that give one of the tokens as `Authorization: Bearer <token>` (RFC 6750, section 2.1).
struct BearerTokenMiddleware: RouterMiddleware {
    typealias Context = CollectorRequestContext

    let tokens: IngestTokens
    let gate: TokenGate
    let logger: Logger

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let verdict = BearerToken.given(in: request).map { gate.verdict(on: $0, of: context, isRight: tokens.contain) }
        switch verdict ?? .wrong {
        case .right: return try await next(request, context)
        // The answer has no WWW-Authenticate, against RFC 9110: URLSession on Linux (6.3.1) never returns from a 401
        // with it.
        case .wrong: return try refuse(request, 401, "the ingest token is missing or wrong", context)
        case .notNow:
            var response = try refuse(request, 429, TokenGate.tooManyWrong, context)
            response.headers[.retryAfter] = String(TokenGate.waitSeconds)
            return response
        }
    }

    private func refuse(
        _ request: Request, _ status: Int, _ reason: String, _ context: Context
    ) throws -> Response {
        logger.refusal(status: status, reason: reason, of: context)
        return try Response.otlpFailure(status: status, message: reason, to: request)
    }
}

enum BearerToken {
    /// Returns `nil` if the request has none.
    static func given(in request: Request) -> String? {
        guard let header = request.headers[.authorization], header.prefix(7).lowercased() == "bearer " else {
            return nil
        }
        return String(header.dropFirst(7))
    }
}
