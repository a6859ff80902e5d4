import MartletReports
import Testing

extension Scene {
    /// Expects each request to be counted once, the buffer to be empty, and the report to be complete.
    func expectEverythingCountedOnce(
        stores: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var reports: [Report] = []
        for store in stores.isEmpty ? [store] : stores { reports.append(try await report(of: store)) }
        let tally = try tally(of: reports)
        let totals = tally.totals
        #expect(totals.ended > 0, "nothing was made; \(seed)", sourceLocation: sourceLocation)
        #expect(tally.complaints == [], "\(totals) in all; \(seed)", sourceLocation: sourceLocation)
        #expect(waiting == [], "files are left in the buffer; \(seed)", sourceLocation: sourceLocation)
        #expect(
            reports.allSatisfy { $0.completeness == 1 } || stores.count > 1, "\(seed)", sourceLocation: sourceLocation)
    }

    /// Expects the service's ledger to explain every single request that is missing from the report. For a case with
    /// one process that ended by itself.
    func expectLedgerExplains(_ end: AgentReport, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let totals = try await tally().totals
        #expect(totals.ended == totals.served, "\(seed)", sourceLocation: sourceLocation)
        #expect(end.captured == totals.served, "\(end); \(seed)", sourceLocation: sourceLocation)
        #expect(
            end.captured == end.delivered + end.waiting + end.lost, "\(end); \(seed)", sourceLocation: sourceLocation)
        #expect(end.delivered == totals.reported, "\(end); \(seed)", sourceLocation: sourceLocation)
    }

    /// Expects the collector to know the losses too, because the agent reports them with its last batch.
    func expectCollectorKnows(_ end: AgentReport, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let ledgers = try await agents(of: store).agents.compactMap(\.ledger)
        let dropped = ledgers.flatMap(\.dropped).reduce(into: [:]) { $0[$1.key, default: 0] += Int($1.value) }
        #expect(dropped == end.dropped, "\(seed)", sourceLocation: sourceLocation)
        let captured = ledgers.reduce(0) { $0 + Int($1.captured) }
        #expect(captured == end.captured, "\(seed)", sourceLocation: sourceLocation)
        let completeness = try #require(try await report(of: store).completeness)
        let share = Double(end.delivered) / Double(end.captured)
        #expect(abs(completeness - share) < 1e-9, "\(end); \(seed)", sourceLocation: sourceLocation)
    }
}
