import Fixtures
import Foundation
import Hummingbird
import MartletReports
import Synchronization
import Testing

/// `check` right after requests of a service with the agent.
@Suite struct CheckTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The service makes 30 requests that succeed. After they were counted, 90 fail, and the agent has not reported them when the
    /// check begins.
    @Test func freshFailuresDoNotPass() async throws {
        let collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        let probe = Probe(folder: folder, collector: collector.address)
        let (counted, checked, failed) = (Latch(), Latch(), Latch())
        let router = Router()
        router.get("users/:id") { _, _ in "done" }
        router.get("orders/:id/items") { _, _ in
            await counted.passed()
            return Response(status: .internalServerError)
        }
        router.get("missing/:id") { _, _ in Response(status: .internalServerError) }
        router.get("broken") { _, _ in Response(status: .internalServerError) }
        router.post("posted") { _, _ in
            failed.open()
            await checked.passed()
            return "done"
        }
        try await LoopbackServer.run(router) { server in
            let service = try probe.start(server, requests: 30, environment: ["MARTLET_INTERVAL": "2s"])
            _ = try await settled {
                try await probe.report()
            } until: {
                $0.totals.measures.count == 30
            }
            counted.open()
            await failed.passed()
            let check = try await ChildProcess(
                .martletCollector, ["check", "--max-failure-rate", "1%", "--collector", collector.address]
            ).finish()
            checked.open()
            #expect(check.status == 1, "\(check)")
            #expect(check.output.contains("of 30 requests (limit 1 %"), "\(check.output)")
            _ = try await probe.finish(service)
        }
    }
}

/// A gate that is opened once.
private final class Latch: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    /// Returns when the gate is open.
    func passed() async {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(waiter) }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }
}
