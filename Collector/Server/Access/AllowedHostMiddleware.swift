import Hummingbird
import MartletPage
import MartletReports

/// Refuses readers who reach the collector by a name that is not its own (``AllowedHosts``).
struct AllowedHostMiddleware<Context: RequestContext>: RouterMiddleware {
    let hosts: AllowedHosts

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, !hosts.allow(authority) else {
            return try await next(request, context)
        }
        let host = TerminalText.plain(AllowedHosts.host(of: authority) ?? "")
        let sentence =
            host.isEmpty
            ? "the request names no host that this collector is reached as"
            : "this collector is not reached as \(host); start it with --allowed-host \(host) to allow the name"
        return try Response.json(Problem(error: sentence), status: HTTPResponse.Status(code: 421))
    }
}
