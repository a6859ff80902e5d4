import Hummingbird
import Logging
import MartletIntake
import MartletStorage
import MartletTelemetry

/// `POST /v1/metrics` and `/v1/traces` (OTLP/HTTP). A 200 means that the telemetry is on disk (see ``Storage``). A batch with
/// an id is counted once, however often it is sent.
struct IngestRoutes: Sendable {
    let storage: any Storage
    let intake: Intake
    let room: IngestMemory
    let activity: CollectorActivity
    let refusals: RefusedSenders
    let logger: Logger

    func add(to router: Router<CollectorRequestContext>, tokens: IngestTokens?, gate: TokenGate) {
        let group = router.group("v1")
        if let tokens { group.add(middleware: BearerTokenMiddleware(tokens: tokens, gate: gate, logger: logger)) }
        group.post("metrics") { request, context in
            try await answer(request, context) { try await metrics(request, context) }
        }
        group.post("traces") { request, context in
            try await answer(request, context) { try await traces(request, context) }
        }
        group.post("logs") { request, _ in
            try Response.otlpFailure(
                status: 404, message: "logs are not supported; send metrics and traces", to: request)
        }
    }

    private func metrics(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let envelope = try envelope(of: request, signal: .metrics)
        var reservation = IngestMemory.Reservation(in: room)
        let (taken, outcome) = try await onSuitableThread(try await body(of: request, &reservation), envelope) { body in
            let taken = try intake.metrics(body, encoding: envelope.encoding, format: envelope.format) {
                bytes throws(IntakeRejection) in try reservation.resize(to: bytes)
            }
            try reservation.shrink(to: taken.values.reduce(0) { $0 + $1.estimatedBytes })
            return (taken, try await storage.store(taken.values, of: envelope.batch))
        }
        activity.count {
            $0.rejectPoints(taken.refusals.counts)
            $0.ignoredPoints += UInt64(taken.ignored)
        }
        refusals.add(taken.refusals, of: .metrics)
        log(envelope, outcome, taken.refusals, context)
        var response = Response.otlp(
            status: .ok, try IntakeAnswer.metrics(taken.refusals, in: envelope.format), envelope.format)
        if envelope.batch != nil, taken.refusals.requests > 0,
            let name = HTTPFields.Element.Name(BatchID.rejectedHeaderName)
        {
            response.headers[name] = String(taken.refusals.requests)
        }
        return response
    }

    private func traces(_ request: Request, _ context: CollectorRequestContext) async throws -> Response {
        let envelope = try envelope(of: request, signal: .traces)
        var reservation = IngestMemory.Reservation(in: room)
        let (taken, outcome) = try await onSuitableThread(try await body(of: request, &reservation), envelope) { body in
            let taken = try intake.details(body, encoding: envelope.encoding, format: envelope.format) {
                bytes throws(IntakeRejection) in try reservation.resize(to: bytes)
            }
            try reservation.shrink(to: taken.values.reduce(0) { $0 + $1.estimatedBytes })
            return (taken, try await storage.store(taken.values, of: envelope.batch))
        }
        activity.count { $0.rejectSpans(taken.refusals.counts) }
        refusals.add(taken.refusals, of: .traces)
        log(envelope, outcome, taken.refusals, context)
        return Response.otlp(
            status: .ok, try IntakeAnswer.traces(taken.refusals, in: envelope.format), envelope.format)
    }

    /// Runs `work` away from the connection's event loop if the body is large: see ``EventLoopExecutor``. Only `work` owns the
    /// body. So the body is freed as soon as it is inflated, when its part of the reservation ends.
    private func onSuitableThread<Result>(
        _ body: consuming [UInt8], _ envelope: IntakeEnvelope, _ work: (consuming [UInt8]) async throws -> Result
    ) async throws -> Result {
        guard envelope.mayInflate(body, beyond: ServerLimits.eventLoopBodyBytes) else { return try await work(body) }
        var handedOver = Optional(body)
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await work(handedOver.take() ?? [])
        }
    }

    private func envelope(of request: Request, signal: Signal) throws(IntakeRejection) -> IntakeEnvelope {
        try IntakeEnvelope(
            signal: signal, contentType: request.headers[.contentType],
            contentEncoding: request.headers[.contentEncoding], batch: request.batchHeader)
    }

    /// Reads the body. Never holds more than the limit, even if the headers announce less.
    private func body(of request: Request, _ reservation: inout IngestMemory.Reservation) async throws -> [UInt8] {
        let limit = intake.limits.maxBodyBytes
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? limit
        guard (0...limit).contains(length) else { throw IntakeRejection.tooLarge(limit: limit) }
        var bytes: [UInt8] = []
        do {
            for try await part in request.body {
                guard bytes.count + part.readableBytes <= limit else { throw IntakeRejection.tooLarge(limit: limit) }
                try reservation.append(part.readableBytesView, to: &bytes, of: length)
            }
        } catch let rejection as IntakeRejection {
            throw rejection
        } catch {
            throw IntakeRejection.cutOff
        }
        return bytes
    }

    private func answer(
        _ request: Request, _ context: CollectorRequestContext, _ work: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await work()
        } catch  where error is IntakeRejection || error is StorageBusy {
            let rejection = error as? IntakeRejection ?? .busy
            activity.count { $0.rejectRequest(rejection.message) }
            logger.refusal(status: rejection.status, reason: rejection.message, of: context)
            return try Response.otlpFailure(status: rejection.status, message: rejection.message, to: request)
        } catch {
            // The status is 503 and not 500: OTLP senders try again after a 503, but drop the batch after a 500.
            logger.error("a batch could not be stored", metadata: ["error": "\(error)"])
            return try Response.otlpFailure(
                status: 503, message: "the batch could not be stored; send it again later", to: request)
        }
    }

    private func log(
        _ envelope: IntakeEnvelope, _ outcome: StoreOutcome, _ refusals: Refusals, _ context: CollectorRequestContext
    ) {
        var batch: String { envelope.batch?.description ?? "none" }
        if outcome == .overlapping {
            logger.warning(
                "a batch overlaps with an interval that had arrived before; its requests may be counted twice",
                metadata: ["batch": "\(batch)"])
        }
        if outcome == .duplicate { logger.debug("a batch had arrived before", metadata: ["batch": "\(batch)"]) }
        for reason in refusals.counts.keys.sorted() { logger.refusal(status: 200, reason: reason, of: context) }
    }
}

extension Request {
    fileprivate var batchHeader: String? {
        let name = BatchID.headerName.lowercased()
        return headers.first { $0.name.canonicalName == name }?.value
    }
}

extension Logger {
    /// Logs that a sender's request was refused, wholly or in part.
    ///
    /// - Parameter reason: the collector's own sentence.
    func refusal(status: Int, reason: String, of context: CollectorRequestContext) {
        refusal(status: status, reason: reason, address: context.remoteAddress)
    }

    /// - Parameter address: the sender's, without its port.
    func refusal(status: Int, reason: String, address: String) {
        notice(
            "a sender's request was refused, in whole or in part",
            metadata: ["status": "\(status)", "reason": "\(reason)", "address": "\(address)"])
    }
}
