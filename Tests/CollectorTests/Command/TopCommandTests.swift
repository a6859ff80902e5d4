import Fixtures
import Foundation
import Hummingbird
import MartletSQLiteStorage
import MartletStorage
import Testing

/// `top` on a real terminal.
@Suite struct TopCommandTests {
    private static let enter = "\u{1b}[?1049h"
    private static let leave = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    private let folder: TemporaryFolder
    private var store: String { "sqlite:" + folder.path("collector.sqlite") }

    init() async throws {
        folder = try TemporaryFolder()
        let now = SystemClock.now()
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        var point = Samples.point(Samples.dimensions(endpoint: "/payments", status: 503), [0.1, 0.2])
        (point.start, point.end) = (now - 60_000_000_000, now - 50_000_000_000)
        _ = try await storage.store([.init(resource: Samples.resource(), points: [point])], of: nil)
        try storage.close()
    }

    private func top(_ flags: [String] = [], columns: Int = 100) throws -> PseudoTerminal {
        try PseudoTerminal(.martletCollector, ["top", "--store", store] + flags, columns: columns, rows: 24)
    }

    @Test func qRestoresTheTerminal() async throws {
        let terminal = try top()
        let modes = terminal.modes
        let drawn = await terminal.read(until: "/payments")
        #expect(drawn.contains(Self.enter))
        #expect(terminal.modes != modes)
        terminal.type("q")
        let end = await terminal.finish()
        #expect(end.drawn.hasSuffix(Self.leave))
        #expect(end.status == 0)
        #expect(terminal.modes == modes)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func signalRestoresTheTerminal(signal: Int32) async throws {
        let terminal = try top()
        let modes = terminal.modes
        _ = await terminal.read(until: "/payments")
        terminal.signal(signal)
        let end = await terminal.finish()
        #expect(end.drawn.hasSuffix(Self.leave))
        #expect(end.status == 128 + signal)
        #expect(terminal.modes == modes)
    }

    @Test func keysChangeTheScreen() async throws {
        let terminal = try top()
        _ = await terminal.read(until: "/payments")
        terminal.type("s")
        #expect(await terminal.read(until: "count↓").contains("count↓"))
        terminal.type(" ")
        #expect(await terminal.read(until: "paused").contains("paused"))
        terminal.type("\r")
        #expect(await terminal.read(until: "No kept request").contains("Requests of checkout client GET"))
        terminal.type("\u{3}")
        #expect(await terminal.finish().status == 0)
    }

    @Test func resizedTerminalIsRedrawn() async throws {
        let terminal = try top(columns: 60)
        #expect(!(await terminal.read(until: "q quit").contains("p99")))
        terminal.resize(columns: 200, rows: 40)
        #expect(await terminal.read(until: "p99").contains("p99"))
    }

    @Test func lostCollectorIsReportedAndQueriedAgain() async throws {
        let collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        let terminal = try PseudoTerminal(
            .martletCollector, ["top", "--collector", collector.address], columns: 120, rows: 24)
        _ = await terminal.read(until: "/payments")
        let port = collector.port
        _ = await collector.terminate()
        let gone = await terminal.read(until: "retrying")
        #expect(gone.contains("no collector answers at"))
        #expect(gone.contains("\u{1b}[33m"))
        let again = try await CollectorProcess(store: folder.path("collector.sqlite"), port: port)
        let back = await terminal.read(until: "sorted by")
        #expect(back.contains("/payments"))
        terminal.type("q")
        #expect(await terminal.finish().status == 0)
        _ = await again.terminate()
    }

    @Test func errorIsPrintedAfterTheScreenIsRestored() async throws {
        let router = Router(context: BasicRequestContext.self)
        router.get("api/v1/report") { _, _ in
            Response(status: .badRequest, body: .init(byteBuffer: ByteBuffer(string: #"{"error": "too many rows"}"#)))
        }
        try await LoopbackServer.run(router) { url in
            let terminal = try PseudoTerminal(
                .martletCollector, ["top", "--collector", url.absoluteString], columns: 80, rows: 24)
            let modes = terminal.modes
            let end = await terminal.finish()
            let parts = end.drawn.components(separatedBy: Self.leave)
            #expect(parts.count == 2)
            #expect(parts.last?.contains("Error: too many rows\r\n") == true)
            #expect(end.status == 64)
            #expect(terminal.modes == modes)
        }
    }

    @Test func invalidFlagIsRefusedBeforeTheScreenChanges() async throws {
        let end = await (try top(["--by", "colour"])).finish()
        #expect(end.drawn.contains("by must be one of"))
        #expect(!end.drawn.contains(Self.enter))
        #expect(end.status == 64)
    }

    @Test func pipeIsRefusedWithASentence() async throws {
        let end = try await ChildProcess(.martletCollector, ["top", "--store", store]).finish()
        #expect(end.status == 64)
        #expect(end.errors.contains("top needs a terminal"))
        #expect(end.output == "")
    }
}
