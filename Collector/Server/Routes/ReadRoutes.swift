import Hummingbird
import HummingbirdCore
import Logging
import MartletReports
import MartletStorage
import MartletTelemetry

/// `GET /api/v1/…`: the reports of the command line, as JSON.
struct ReadRoutes: Sendable {
    let storage: any Storage
    let limiter: ReadLimiter
    let now: @Sendable () -> UnixNanoseconds
    let logger: Logger

    func add(to router: Router<CollectorRequestContext>, token: String?) {
        let group = router.group("api/v1")
        group.add(middleware: LongWorkMiddleware())
        if let token {
            group.add(
                middleware: BearerTokenMiddleware(token: token) { _ in
                    try Response.json(
                        Problem(error: "the read token is missing or wrong; use --read-token or a Bearer header"),
                        status: .unauthorized)
                })
        }
        group.add(middleware: ReadLimiterMiddleware(limiter: limiter))
        group.get("report") { request, context in
            try await answer { try await context.whileClientIsThere { try await report(request) } }
        }
        group.get("agents") { request, context in
            try await answer { try await context.whileClientIsThere { try await agents(request) } }
        }
    }

    private func report(_ request: Request) async throws -> Response {
        let reportRequest = try ReportParameters(request.parameters).request(now: now())
        return try Response.json(Report(try await storage.statistics(reportRequest.query), for: reportRequest))
    }

    private func agents(_ request: Request) async throws -> Response {
        let since = try AgentsParameters(request.parameters).since(now: now())
        let answer = try await storage.agents(seenSince: since, limit: AgentsReport.maxAgents)
        return try Response.json(AgentsReport(answer, since: since))
    }

    private func answer(_ work: () async throws -> Response) async throws -> Response {
        do {
            return try await work()
        } catch let error as ParameterError {
            return try Response.json(Problem(error: error.description), status: .badRequest)
        } catch let error as TooManyGroups {
            return try Response.json(Problem(error: error.description), status: .badRequest)
        } catch let error as CancellationError {
            throw error
        } catch {
            logger.error("the store could not be read", metadata: ["error": "\(error)"])
            return try Response.json(Problem(error: "the store could not be read"), status: .serviceUnavailable)
        }
    }
}

extension Request {
    /// The parameters of the query. A `+` is a blank, as forms and most libraries write it, except in a time, which has
    /// no blanks and may have a zone.
    fileprivate var parameters: [(String, String)] {
        let query = URI("/?" + (uri.query ?? "").replacing("+", with: "%20"))
        let times = [ReportParameter.since, .until].map(\.rawValue)
        return query.queryParameters.map { name, value in
            (String(name), String(times.contains(String(name)) ? value.replacing(" ", with: "+") : value))
        }
    }
}
