import Hummingbird
import Logging
import MartletIntake
import MartletStorage
import MartletTelemetry

/// `POST /v1/metrics` and `/v1/traces` (OTLP/HTTP). What is answered with 200 is on disk (see ``Storage``), and a batch that
/// has an id counts once however often it is sent.
struct IngestRoutes: Sendable {
    let storage: any Storage
    let intake: Intake
    let activity: CollectorActivity
    let logger: Logger

    func add(to router: Router<BasicRequestContext>, token: String?) {
        let group = router.group("v1")
        group.add(middleware: IngestCounting(activity: activity))
        if let token {
            group.add(
                middleware: BearerTokenMiddleware(token: token) {
                    try Response.otlpFailure(status: 401, message: "the ingest token is missing or wrong")
                })
        }
        group.post("metrics") { request, _ in try await answer { try await metrics(request) } }
        group.post("traces") { request, _ in try await answer { try await traces(request) } }
        group.post("logs") { _, _ in
            try Response.otlpFailure(status: 404, message: "logs are not taken; metrics and traces are")
        }
        for path in ["metrics", "traces"] as [RouterPath] {
            for method in [.get, .head, .put, .patch, .delete] as [HTTPRequest.Method] {
                group.on(path, method: method) { _, _ in
                    var response = try Response.otlpFailure(status: 405, message: "only POST is taken here")
                    response.headers[.allow] = "POST"
                    return response
                }
            }
        }
    }

    private func metrics(_ request: Request) async throws -> Response {
        let envelope = try envelope(of: request, signal: .metrics)
        let taken = try intake.metrics(try await body(of: request), encoding: envelope.encoding)
        let outcome = try await storage.store(taken.values, of: envelope.batch)
        activity.count {
            $0.rejectPoints(taken.refusals.counts)
            $0.ignoredPoints += UInt64(taken.ignored)
        }
        log(envelope, outcome, taken.refusals)
        var response = Response.otlp(status: .ok, try IntakeAnswer.metrics(taken.refusals))
        if envelope.batch != nil, taken.refusals.requests > 0,
            let name = HTTPFields.Element.Name(BatchID.rejectedHeaderName)
        {
            response.headers[name] = String(taken.refusals.requests)
        }
        return response
    }

    private func traces(_ request: Request) async throws -> Response {
        let envelope = try envelope(of: request, signal: .traces)
        let taken = try intake.details(try await body(of: request), encoding: envelope.encoding)
        let outcome = try await storage.store(taken.values, of: envelope.batch)
        activity.count { $0.rejectSpans(taken.refusals.counts) }
        log(envelope, outcome, taken.refusals)
        return Response.otlp(status: .ok, try IntakeAnswer.traces(taken.refusals))
    }

    private func envelope(of request: Request, signal: Signal) throws(IntakeRejection) -> IntakeEnvelope {
        try IntakeEnvelope(
            signal: signal, contentType: request.headers[.contentType],
            contentEncoding: request.headers[.contentEncoding], batch: request.batchHeader)
    }

    /// Never holds more than the limit, whatever the headers say.
    private func body(of request: Request) async throws -> [UInt8] {
        let limit = intake.limits.maxBodyBytes
        var bytes: [UInt8] = []
        do {
            for try await part in request.body {
                guard bytes.count + part.readableBytes <= limit else { throw IntakeRejection.tooLarge(limit: limit) }
                bytes.append(contentsOf: part.readableBytesView)
            }
        } catch let rejection as IntakeRejection {
            throw rejection
        } catch {
            throw IntakeRejection.cutOff
        }
        return bytes
    }

    private func answer(_ work: () async throws -> Response) async throws -> Response {
        do {
            return try await work()
        } catch let rejection as IntakeRejection {
            logger.debug("rejected", metadata: ["status": "\(rejection.status)", "reason": "\(rejection.message)"])
            return try Response.otlpFailure(status: rejection.status, message: rejection.message)
        } catch {
            // 503 and not 500: OTLP senders try again after the one and drop the batch after the other.
            logger.error("a batch could not be stored", metadata: ["error": "\(error)"])
            return try Response.otlpFailure(status: 503, message: "the batch could not be stored; send it again later")
        }
    }

    private func log(_ envelope: IntakeEnvelope, _ outcome: StoreOutcome, _ refusals: Refusals) {
        let batch = "\(envelope.batch?.description ?? "none")"
        if outcome == .overlapping {
            logger.warning(
                "a batch stands for intervals of which some had arrived, whose requests may count twice",
                metadata: ["batch": "\(batch)"])
        }
        guard refusals.total > 0 || outcome == .duplicate else { return }
        logger.debug(
            "taken in part or not at all",
            metadata: [
                "batch": "\(batch)", "duplicate": "\(outcome == .duplicate)", "refused": "\(refusals.message)",
            ])
    }
}

extension Request {
    fileprivate var batchHeader: String? {
        let name = BatchID.headerName.lowercased()
        return headers.first { $0.name.canonicalName == name }?.value
    }
}
