import Fixtures
import Foundation
import Hummingbird
import MartletReports
import MartletStorage
import Testing

/// The findings above `report` and `top`, as processes.
@Suite struct ReportFindingsTests {
    private static let title = "GET /orders of orders fails since "

    private let folder: TemporaryFolder
    private let store: String

    init() async throws {
        folder = try TemporaryFolder()
        let minute = 60_000_000_000 as UInt64
        store = try await OutageStore(in: folder, start: SystemClock.now() / minute * minute - 40 * minute).path
    }

    private func report(_ flags: [String]) async throws -> String {
        let result = try await ChildProcess(.martletCollector, ["report"] + flags).finish()
        #expect(result.status == 0, "\(result)")
        return result.output
    }

    /// Asks a collector that has read the store.
    private func collector() async throws -> CollectorProcess {
        let collector = try await CollectorProcess(store: store)
        try await wait(for: "the first tick") {
            try await report(["--collector", collector.address]).hasPrefix("▲ failing")
        }
        return collector
    }

    @Test func whatHappenedComesFirstForPeopleAndNotForPrograms() async throws {
        let collector = try await collector()
        let source = ["--collector", collector.address]
        #expect(try await report(source).hasPrefix("▲ failing   \(Self.title)"))
        #expect(try await report(source + ["--format", "markdown"]).hasPrefix("- ▲ **failing** \(Self.title)"))
        for format in ["csv", "json"] {
            #expect(try await !report(source + ["--format", format]).contains(Self.title))
        }
        for filter in [["--service", "users"], ["--kind", "client"], ["--until", "15m"]] {
            #expect(try await !report(source + filter).contains(Self.title), "\(filter)")
        }
        #expect(try await report(source + ["--service", "orders", "--kind", "server"]).hasPrefix("▲ failing"))
        #expect(try await !report(["--store", "sqlite:" + store]).contains(Self.title))
    }

    @Test func topShowsThem() async throws {
        let collector = try await collector()
        let terminal = try PseudoTerminal(
            .martletCollector, ["top", "--collector", collector.address], columns: 100, rows: 30)
        #expect(await terminal.read(until: Self.title).contains(Self.title))
        terminal.type("q")
        #expect(await terminal.finish().status == 0)
    }

    @Test func collectorThatDoesNotKnowFindingsGivesItsReport() async throws {
        let router = Router(context: BasicRequestContext.self)
        let answer = try ReportJSON.text(of: SampleReport.report)
        router.get("api/v1/report") { _, _ in
            Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: answer)))
        }
        try await LoopbackServer.run(router) { url in
            let result = try await ChildProcess(
                .martletCollector, ["report", "--collector", url.absoluteString]
            ).finish()
            #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
            #expect(result.output.hasPrefix("549 of 19,635 outgoing"))
        }
    }
}
