import MartletReports
import MartletStorage
import MartletTelemetry

/// Everything that is kept about a request.
package struct RequestPage: Sendable {
    static func address(of id: String) -> PageAddress { PageAddress("/requests/", id: id) }

    let visit: Visit
    let facts: PageFacts
    let report: RequestReport
    let phases: PhaseWaterfall?
    let trace: TraceWaterfall

    /// - Throws: ``UnknownRequest``, or the store's error.
    package init(_ id: String, _ visit: Visit, in storage: some Storage) async throws {
        self.visit = visit
        report = try await RequestReport(id: id, in: storage)
        phases = PhaseWaterfall(report)
        trace = TraceWaterfall(report.trace)
        facts = try await PageFacts(visit, in: storage)
    }

    /// Returns the visit of a request's page.
    package static func visit(
        _ id: String, _ pairs: [(String, String)], now: UnixNanoseconds
    ) throws(ParameterError) -> Visit {
        try Visit(address(of: id), pairs, now: now)
    }
}
