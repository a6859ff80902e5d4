import MartletReports
import MartletStorage
import MartletTelemetry

/// A trace id that no kept span has, or has any more.
package struct UnknownTrace: Error, CustomStringConvertible {
    package var description: String { "no span of this trace is kept" }
}

/// The kept spans of a trace, across services.
package struct TracePage: Sendable {
    static func address(of id: String) -> PageAddress { PageAddress("/traces/", id: id) }

    let visit: Visit
    let facts: PageFacts
    /// The id in hexadecimal digits.
    let id: String
    let waterfall: TraceWaterfall
    /// Spans that are not shown.
    let more: Int

    /// - Throws: ``UnknownTrace``, or the store's error.
    package init(_ id: String, _ visit: Visit, in storage: some Storage) async throws {
        guard let trace = TraceID(hexDigits: id.utf8) else { throw UnknownTrace() }
        let answer = try await storage.spans(ofTrace: trace, limit: RequestReport.maxSpans)
        guard let first = answer.spans.map(\.span.start).min() else { throw UnknownTrace() }
        self.visit = visit
        self.id = trace.description
        waterfall = TraceWaterfall(answer.spans.map { TraceSpan($0, after: first) })
        more = answer.more
        facts = try await PageFacts(visit, in: storage)
    }

    /// Returns the visit of a trace's page.
    package static func visit(
        _ id: String, _ pairs: [(String, String)], now: UnixNanoseconds
    ) throws(ParameterError) -> Visit {
        try Visit(address(of: id), pairs, now: now)
    }
}
