import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import MartletFindings
import MartletReports
import MartletStorage
import MartletTelemetry

/// `/api/v1/…`: the reports of the command line, as JSON, and the deletion of kept requests.
struct APIRoutes: Sendable {
    let storage: any Storage
    let histories: RowHistories
    let watch: FleetWatch
    let limiter: ReadLimiter
    let now: @Sendable () -> UnixNanoseconds
    let logger: Logger

    func add(to router: RouterGroup<CollectorRequestContext>, access: ReaderAccess) {
        let group = router.group("api/v1")
        group.add(middleware: LongWorkMiddleware())
        group.add(middleware: ReaderMiddleware(access: access) { _ in try Response.readTokenMissing })
        group.add(middleware: ReadLimiterMiddleware(limiter: limiter))
        let reads: [(RouterPath, Read)] = [
            ("findings", findings), ("report", report), ("series", series), ("requests", requests),
            ("requests/:id", request), ("values/:dimension", values), ("map", map), ("agents", agents),
            ("process", process),
        ]
        for (path, read) in reads {
            group.get(path) { request, context in
                try await answer {
                    try await context.reading(within: limiter.readTimeout) { try await read(request, context) }
                }
            }
            group.refuseOtherMethods(at: path, than: path == "requests" ? [.get, .delete] : [.get])
        }
        group.get("openapi.json") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.openapi_json)))
        }
        group.refuseOtherMethods(at: "openapi.json")
        group.delete("requests") { request, context in
            guard context.reader?.mayClear ?? true else {
                return try Response.json(Problem(error: "this token may not delete requests"), status: .forbidden)
            }
            return try await answer("the kept requests could not be deleted") {
                try await removeRequests(request, context)
            }
        }
    }

    private typealias Read = @Sendable (Request, CollectorRequestContext) async throws -> Response

    /// The answer of the last tick. It reads only environments that no tick has met, and those with points that came late.
    private func findings(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let question = try FindingsParameters(request.queryPairs).question(now: now())
        try await watch.catchUp(now: now())
        return try Response.json(await watch.report(question))
    }

    private func report(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let parameters = try ReportParameters(request.queryPairs)
        return try Response.json(try await storage.report(parameters, now: now(), histories))
    }

    private func series(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let query = try ReportParameters(request.queryPairs).seriesQuery(now: now())
        guard let report = SeriesReport(try await storage.statistics(query), for: query) else {
            throw StorageFailure("the store answered without slots")
        }
        return try Response.json(report)
    }

    private func requests(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let query = try RequestsParameters(request.queryPairs).query(now: now())
        return try Response.json(RequestsReport(try await storage.requests(query), for: query))
    }

    private func request(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        guard request.queryPairs.isEmpty else {
            throw ParameterError("unknown parameter; this path has none")
        }
        return try Response.json(try await RequestReport(id: try context.parameters.require("id"), in: storage))
    }

    private func values(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        guard let dimension = Dimension(rawValue: try context.parameters.require("dimension")) else {
            let names = Dimension.allCases.map(\.rawValue).joined(separator: ", ")
            return try Response.json(
                Problem(error: "unknown dimension; the dimensions are \(names)"), status: .notFound)
        }
        let query = try ValuesParameters(request.queryPairs).query(of: dimension, now: now())
        return try Response.json(ValuesReport(try await storage.values(query), of: dimension))
    }

    /// Deletes all kept spans. A page of another site cannot make a browser send this: for `DELETE` across origins a browser
    /// needs the collector's consent (Fetch Standard, "CORS-preflight request"), and the collector never gives it.
    private func removeRequests(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        guard request.uri.query == nil else {
            throw ParameterError("this deletes all kept requests and takes no parameters")
        }
        let removed = try await storage.removeDetails()
        logger.noteRemoval(of: removed, context)
        return try Response.json(RemovalReport(removed: removed))
    }

    private func map(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let parameters = try MapParameters(request.queryPairs)
        return try Response.json(try await storage.map(parameters, now: now()))
    }

    private func agents(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let parameters = try AgentsParameters(request.queryPairs)
        return try Response.json(try await storage.agents(parameters, now: now()))
    }

    private func process(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let query = try ProcessParameters(request.queryPairs).query(now: now())
        let answer = try await storage.processes(query)
        return try Response.json(ProcessReport(answer, try await storage.busyWaits(of: answer, query.filter)))
    }

    /// - Parameter failure: the sentence for a failure of the store.
    private func answer(
        _ failure: String = "the store could not be read", _ work: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await work()
        } catch  where error is ParameterError || error is TooManyGroups {
            return try Response.json(Problem(error: "\(error)"), status: .badRequest)
        } catch is UnknownRequest {
            return try Response.json(Problem(error: UnknownRequest.sentence), status: .notFound)
        } catch let error as ReadTimeout {
            return try Response.json(Problem(error: error.description), status: .serviceUnavailable)
        } catch  where error is HTTPError || error is CancellationError {
            throw error
        } catch {
            logger.error("\(failure)", metadata: ["error": "\(error)"])
            return try Response.json(Problem(error: failure), status: .serviceUnavailable)
        }
    }
}

extension Logger {
    /// Logs who deleted the kept requests.
    func noteRemoval(of count: Int, _ context: CollectorRequestContext) {
        info(
            "the kept requests were deleted",
            metadata: [
                "count": "\(count)", "address": "\(context.remoteAddress)",
                "token": "\(context.reader?.token?.name ?? "none")",
            ])
    }
}

extension Request {
    /// The names and values of the query. A `+` means a space, as in forms and most libraries. The exception is a time, in
    /// which it stays a `+`: a time has no spaces, but may have a zone.
    var queryPairs: [(String, String)] {
        let times = [ReportParameter.since, .until].map(\.rawValue)
        return Self.pairs(ofForm: uri.query ?? "").map { name, value in
            (name, times.contains(name) ? value.replacing(" ", with: "+") : value)
        }
    }

    /// Decodes the fields of a form (URL Standard, application/x-www-form-urlencoded).
    static func pairs(ofForm text: String) -> [(String, String)] {
        URI("/?" + text.replacing("+", with: "%20")).queryParameters.map { (String($0.key), String($0.value)) }
    }
}
