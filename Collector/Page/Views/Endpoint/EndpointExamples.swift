import MartletReports
import MartletStorage

/// Some of the requests whose details are kept.
struct EndpointExamples: Sendable {
    /// Requests of each list.
    static let count = 5

    let slowest: [RequestSummary]
    let failed: [RequestSummary]
    let succeeded: [RequestSummary]
    /// The kept requests of the window.
    let kept: Int

    /// - Parameter query: the kept requests of the selection.
    init(_ query: RequestsQuery, in storage: some Storage) async throws {
        var (slow, failed) = (query, query)
        slow.order = RequestsQuery.Order(.duration)
        failed.onlyFailed = true
        let all = try await storage.requests(slow)
        kept = all.count
        slowest = RequestsReport(all, for: slow).requests
        self.failed = RequestsReport(try await storage.requests(failed), for: failed).requests
        guard query.filter.wanted[.error] == nil else {
            succeeded = []
            return
        }
        var good = query
        good.filter.select(.error, "")
        // A status may be a failure without an error's name.
        succeeded = RequestsReport(try await storage.requests(good), for: good).requests.filter { !$0.failed }
    }
}
