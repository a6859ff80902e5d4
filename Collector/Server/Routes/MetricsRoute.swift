import Hummingbird
import MartletOTLP
import MartletPrometheus
import MartletStorage

/// `GET /metrics`: every service's requests and the collector's own figures for Prometheus, which sends the read token as
/// `authorization.credentials` of a scrape configuration.
struct MetricsRoute: Sendable {
    let storage: any Storage
    let limiter: ReadLimiter
    let activity: CollectorActivity

    /// Bytes of text that are collected before they are sent.
    private static let chunk = 64 * 1024

    func add(to router: RouterGroup<CollectorRequestContext>, access: ReaderAccess) {
        let group = router.group("metrics")
        group.add(middleware: LongWorkMiddleware())
        group.add(middleware: ReaderMiddleware(access: access) { _ in try Response.readTokenMissing })
        group.add(middleware: ReadLimiterMiddleware(limiter: limiter))
        group.get { request, _ in await page(isSent: request.method == .get) }
    }

    /// - Parameter isSent: whether the body goes to the client; for a HEAD only its length does.
    private func page(isSent: Bool) async -> Response {
        let totals = activity.page()
        let own = PrometheusCollector.text(
            of: activity.counters, series: totals.count, storeBytes: try? await storage.size(),
            store: try? await storage.state(), version: OTLPScope.version)
        let process = ProcessFigures.current().map(PrometheusProcess.text) ?? ""
        let body = ResponseBody { writer in
            // The body is written after the middleware has returned, so the writer leaves the event loop itself.
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                var waiting = own + process
                for part in PrometheusRequests(totals).parts {
                    waiting += part
                    guard waiting.utf8.count >= Self.chunk else { continue }
                    try await writer.write(ByteBuffer(string: waiting))
                    waiting = ""
                }
                try await writer.write(ByteBuffer(string: waiting))
                try await writer.finish(nil)
                if isSent { activity.markTaken(totals) }
            }
        }
        return Response(status: .ok, headers: [.contentType: PrometheusText.contentType], body: body)
    }
}
