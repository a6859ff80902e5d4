import Hummingbird
import MartletFindings
import MartletPrometheus
import MartletStorage
import MartletTelemetry

/// The routes for monitoring the collector. They need no token and wait for nothing.
struct HealthRoutes: Sendable {
    let storage: any Storage
    let requests: RequestDrain

    func add(to router: Router<CollectorRequestContext>) {
        // 200 as long as the process answers.
        router.get("healthz") { _, _ in try Response.json(HealthAnswer(status: "ok")) }
        // 503 while the collector stops, or while the store takes no batches.
        router.get("readyz") { _, _ in
            let fault = requests.isDraining ? "stopping" : storage.fault
            guard let fault else { return try Response.json(HealthAnswer(status: "ok")) }
            return try Response.json(HealthAnswer(status: fault), status: .serviceUnavailable)
        }
        for path: RouterPath in ["healthz", "readyz"] { router.refuseOtherMethods(at: path) }
    }
}

private struct HealthAnswer: Encodable {
    var status: String
}

/// `GET /metrics`, for Prometheus: every service's requests, its agents, what is wrong, and the collector's own figures. Prometheus sends the
/// read token as `authorization.credentials` of a scrape configuration.
struct MetricsRoute: Sendable {
    let storage: any Storage
    let limiter: ReadLimiter
    let activity: CollectorActivity
    let watch: FleetWatch
    let now: @Sendable () -> UnixNanoseconds

    func add(to router: RouterGroup<CollectorRequestContext>, access: ReaderAccess) {
        let group = router.group("metrics")
        group.add(middleware: LongWorkMiddleware())
        group.add(middleware: ReaderMiddleware(access: access) { _ in try Response.readTokenMissing })
        group.add(middleware: ReadLimiterMiddleware(limiter: limiter))
        group.get { _, _ in await page() }
        group.refuseOtherMethods(at: "")
    }

    private func page() async -> Response {
        let own = PrometheusCollector.text(
            of: activity.counters, series: activity.totals.count, storeBytes: try? await storage.size(),
            store: try? await storage.state(), freeBytes: await storage.freeBytes(), version: MartletVersion.current)
        let process = OwnProcessFigures.current().map(PrometheusProcess.text) ?? ""
        let (agents, findings) = (await agents() + activity.ends, await findings())
        let body = ResponseBody { writer in
            // The body is written after the middleware has returned, so the writer itself leaves the event loop.
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                var waiting = own + process + agents + findings
                for part in activity.requests.parts {
                    waiting += part
                    guard waiting.utf8.count >= PiecewiseWriter.pieceBytes else { continue }
                    try await writer.write(ByteBuffer(string: waiting))
                    waiting = ""
                }
                try await writer.write(ByteBuffer(string: waiting))
                try await writer.finish(nil)
            }
        }
        return Response(status: .ok, headers: [.contentType: PrometheusText.contentType], body: body)
    }

    /// Returns the findings that were open at the last tick, with 0 for kinds without any.
    private func findings() async -> String {
        let samples = await watch.openFindings().flatMap { environment, counts in
            FindingKind.allCases.map { kind in
                PrometheusFindings.Sample(environment: environment, kind: kind.rawValue, count: counts[kind] ?? 0)
            }
        }
        return PrometheusFindings.text(of: samples)
    }

    /// Returns the agents' part of the page. It is empty if the store does not answer, and the rest of the page reports that.
    private func agents() async -> String {
        let (now, window) = (now(), PrometheusAgents.window)
        let answer = try? await storage.agents(
            seenSince: now > window ? now - window : 0, limit: PrometheusAgents.maxAgents)
        return answer.map { PrometheusAgents.text(of: $0) + PrometheusServices.text(of: $0, now: now) } ?? ""
    }
}
