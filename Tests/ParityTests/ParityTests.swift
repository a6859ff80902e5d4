import Foundation
import MartletOTLP
import Testing

/// The program sees no difference between a run without the agent and one with it, in either mode.
///
/// Each test is one cell of the matrix; the cells are in `Tests/ParityProgram/Cells`.
struct ParityTests {
    @Test(arguments: try await ParityRun.cellNames(), ParityRun.Mode.withAgent)
    func programSeesNoDifference(in cell: String, mode: ParityRun.Mode) async throws {
        let bare = try #require(try await ParityRun.of(.bare).cell(cell))
        let agent = try #require(try await ParityRun.of(mode).cell(cell))
        #expect(agent.saw.changes(since: bare.saw) == [])
    }

    @Test(arguments: try await ParityRun.cellNames(), ParityRun.Mode.withAgent)
    func serverSeesNoDifference(in cell: String, mode: ParityRun.Mode) async throws {
        let bare = try #require(try await ParityRun.of(.bare).cell(cell))
        let agent = try #require(try await ParityRun.of(mode).cell(cell))
        guard !Captured.isRuled(cell) else {
            let roles = agent.received.map(\.role)
            #expect(roles == Captured.rolesReached(in: cell))
            return
        }
        // The agent adds only its trace headers.
        let received = agent.received.map(\.withoutTraceHeaders)
        #expect(received.map(\.text).changes(since: bare.received.map(\.text)) == [])
    }

    @Test(arguments: try await ParityRun.cellNames(), ParityRun.Mode.withAgent)
    func everyRequestIsCaptured(in cell: String, mode: ParityRun.Mode) async throws {
        let agent = try #require(try await ParityRun.of(mode).cell(cell))
        #expect(agent.captured == Captured.requests(in: cell, mode: mode))
    }

    @Test(arguments: try await ParityRun.cellNames(), ParityRun.Mode.withAgent)
    func everyHopOfARequestCarriesItsTrace(in cell: String, mode: ParityRun.Mode) async throws {
        let run = try await ParityRun.of(mode)
        let hops = try #require(run.cell(cell)).received.filter { Captured.isTraced($0, in: cell, mode: mode) }
        #expect(hops.filter { $0.traceParents.count != 1 }.map(\.text) == [])
        let kept = run.spans(of: cell).map(\.traceParent)
        #expect(Set(hops.flatMap(\.traceParents)).subtracting(kept) == [])
    }

    @Test(arguments: try await ParityRun.cellNames(), ParityRun.Mode.withAgent)
    func requestsThatARuleChangedAreMarked(in cell: String, mode: ParityRun.Mode) async throws {
        let marks = try await ParityRun.of(mode).spans(of: cell).filter { $0.kind == .client }
            .map { $0.attribute("martlet.rule") != nil }
        let expected = Captured.isRuled(cell) ? [true] + (cell == "rule answers with cookies" ? [false] : []) : []
        #expect(Captured.isRuled(cell) ? marks == expected : !marks.contains(true))
    }

    @Test(arguments: ParityRun.Mode.withAgent)
    func agentUsesTheConfiguredCaptureMode(mode: ParityRun.Mode) async throws {
        #expect(try await ParityRun.of(mode).captureMode == mode.rawValue)
        #expect(try await ParityRun.of(.bare).captureMode == nil)
    }

    /// Checks that the runs keep details: that code reads more of a request than any other.
    @Test(arguments: ParityRun.Mode.withAgent)
    func agentKeepsHeadersAndBodies(mode: ParityRun.Mode) async throws {
        let span = try #require(try await ParityRun.of(mode).spans(of: "POST with a body").first)
        #expect(span.attribute("martlet.response.body")?.stringValue == "received a body\n")
        #expect(span.attribute("http.response.header.content-length") != nil)
    }

    @Test(arguments: ParityRun.Mode.allCases)
    func everyCellRanToTheEnd(mode: ParityRun.Mode) async throws {
        let run = try await ParityRun.of(mode)
        #expect(try await run.cells.map(\.name) == ParityRun.cellNames())
        #expect(run.cells.filter { cell in cell.saw.contains { $0.hasPrefix("the cell failed") } }.map(\.name) == [])
        #expect(Set(run.cells.map(\.name)).count == run.cells.count)
    }
}

extension ParityRun.Received {
    var text: String { "\(connection) \(role) \(head) \(body)" }

    var traceParents: [String] {
        let name = "traceparent: "
        return head.filter { $0.lowercased().hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    var withoutTraceHeaders: Self {
        let added = ["traceparent:", "tracestate:"]
        return Self(
            connection: connection, role: role,
            head: head.filter { line in !added.contains { line.lowercased().hasPrefix($0) } }, body: body)
    }
}

extension OTLPSpan {
    /// The trace parent of requests within the span.
    fileprivate var traceParent: String { "00-\(traceID.hex)-\(spanID.hex)-01" }
}

extension Data {
    /// Lower-case hexadecimal digits.
    fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

extension [String] {
    /// Lines that were added and removed, with their numbers.
    fileprivate func changes(since other: [String]) -> [String] {
        difference(from: other).map { change in
            switch change {
            case .insert(let line, let text, _): "+ \(line): \(text)"
            case .remove(let line, let text, _): "- \(line): \(text)"
            }
        }
    }
}
