import Hummingbird
import HummingbirdCore
import Logging
import MartletReports
import MartletStorage
import MartletTelemetry

/// `/api/v1/…`: the reports of the command line, as JSON, and the deletion of kept requests.
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
        let reads: [(RouterPath, Read)] = [
            ("report", report), ("series", series), ("requests", requests), ("requests/:id", request),
            ("values/:dimension", values), ("agents", agents),
        ]
        for (path, read) in reads {
            group.get(path) { request, context in
                try await answer { try await context.whileClientIsThere { try await read(request, context) } }
            }
        }
        group.delete("requests") { request, _ in try await answer { try await removeRequests(request) } }
    }

    private typealias Read = @Sendable (Request, CollectorRequestContext) async throws -> Response

    private func report(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let query = try ReportParameters(request.parameters).query(now: now())
        return try Response.json(Report(try await storage.statistics(query), for: query))
    }

    private func series(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let query = try ReportParameters(request.parameters).seriesQuery(now: now())
        guard let report = SeriesReport(try await storage.statistics(query), for: query) else {
            throw StorageFailure("the store answered without slots")
        }
        return try Response.json(report)
    }

    private func requests(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let query = try RequestsParameters(request.parameters).query(now: now())
        return try Response.json(RequestsReport(try await storage.requests(query), for: query))
    }

    private func request(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let format = try RequestParameters(request.parameters).format()
        let id = try context.parameters.require("id")
        guard let kept = try await storage.request(id),
            let report = RequestReport(
                kept, trace: try await storage.spans(ofTrace: kept.span.traceID, limit: RequestReport.maxSpans))
        else { throw UnknownRequest(id: id) }
        return switch format {
        case .json: try Response.json(report)
        case .har: try Response.json(RequestHAR(report), saveAs: "martlet-\(report.summary.id).har")
        }
    }

    private func values(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        guard let dimension = Dimension(rawValue: try context.parameters.require("dimension")) else {
            throw HTTPError(.notFound)
        }
        let query = try ValuesParameters(request.parameters).query(of: dimension, now: now())
        return try Response.json(ValuesReport(try await storage.values(query), of: dimension))
    }

    /// Deletes all kept spans. A page of another site cannot make a browser send this: `DELETE` needs the collector's consent
    /// to be asked across origins (Fetch Standard, "CORS-preflight request"), which it never gives.
    private func removeRequests(_ request: Request) async throws -> Response {
        guard request.uri.query == nil else {
            throw ParameterError("all kept requests are deleted together; there are no parameters")
        }
        return try Response.json(RemovalReport(removed: try await storage.removeDetails()))
    }

    private func agents(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
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
        } catch let error as UnknownRequest {
            return try Response.json(Problem(error: error.description), status: .notFound)
        } catch let error as HTTPError {
            throw error
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
