import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// A sequence of services with one buffer behind a bad network, each with a random fault and locale. The full form
    /// takes half an hour; the short form has each fault once.
    @Suite(.serialized) struct MixedLoadTests {
        enum Fault: String, Sendable, CaseIterable {
            case killed, pausedAndContinued, clockSet, folderRemoved, descriptorsClosed, collectorKilled, forked, ended
        }

        /// All faults, but no forks with `URLSession`, which does not work in a child after an upload.
        private static let faults = Fault.allCases.filter {
            $0 != .forked || TestedTransport.environment.isEmpty
        }
        private static let length = Duration.seconds(30 * 60)

        @Test func reportMatchesTheServersCountsUnderAnyFault() async throws {
            try await Scene.run { scene in
                let mix = try await MixedLoad(in: scene)
                let start = ContinuousClock.now
                var number = 0
                while isFull ? ContinuousClock.now - start < Self.length : number < Self.faults.count {
                    let draw = scene.seed.draw(number * 4, in: 0...Self.faults.count - 1)
                    try await mix.live(number, Self.faults[isFull ? draw : number])
                    number += 1
                }
                try await mix.expectTheServersCounts()
            }
        }
    }
}

/// The lives of one case, and the ledgers that they reported.
private actor MixedLoad {
    private let scene: Scene
    private let gate: Gate
    private let clock: ShiftedClock
    private var collector: CollectorProcess
    /// The number of requests that a life lost with its folder, by the life's name.
    private var lost: [String: Int] = [:]

    init(in scene: Scene) async throws {
        self.scene = scene
        collector = try await scene.collector()
        clock = try await ShiftedClock(in: scene.folder)
        let seed = scene.seed
        gate = try Gate(collector: collector.port) { _, earlier in .random(earlier.count, seed) }
    }

    func live(_ number: Int, _ fault: FaultTests.MixedLoadTests.Fault) async throws {
        let life = "life-\(number)"
        // The folder would be removed with batches of an earlier life, which has already reported its ledger.
        if fault == .folderRemoved { try await scene.drain(collector: collector.port) }
        let requests = scene.seed.draw(number * 4 + 1, in: 200...800)
        let environment = clock.environment
            .merging(["MARTLET_EXPORT_TIMEOUT": "1s"]) { $1 }
            .merging(Self.locales[scene.seed.draw(number * 4 + 2, in: 0...Self.locales.count - 1)]) { $1 }
        if fault == .forked { return try await fork(life, environment) }
        let service = try scene.start(
            life, collector: gate.port, requests: fault == .killed ? 1_000_000 : requests, ["--flushes", "20"],
            environment: environment)
        try await scene.wait(while: service) { scene.served(of: life) > requests / 3 }
        try await apply(fault, to: service, number)
        if fault == .killed { return }
        let end = try await scene.end(of: service)
        #expect(end.captured == scene.served(of: life), "\(life) \(fault) \(environment); \(scene.seed)")
        #expect(end.lost == 0 || fault == .folderRemoved, "\(life) \(fault): \(end); \(scene.seed)")
        if end.lost > 0 { lost[life] = end.lost }
    }

    /// Runs a server and two workers that it forks; each makes the same number of requests.
    private func fork(_ life: String, _ environment: [String: String]) async throws {
        let program = try scene.start(
            life, collector: gate.port, requests: 60, ["--scene", "workers"], environment: environment,
            program: .forkProgram)
        let (status, output, errors) = await program.finish()
        #expect(status == 0 && output == "0\n", "\(life) \(environment): \(errors); \(scene.seed)")
    }

    private func apply(
        _ fault: FaultTests.MixedLoadTests.Fault, to service: ChildProcess, _ number: Int
    ) async throws {
        switch fault {
        case .killed: await service.stop(with: SIGKILL)
        case .pausedAndContinued:
            kill(service.pid, SIGSTOP)
            try await Task.sleep(for: .milliseconds(scene.seed.draw(number * 4 + 3, in: 50...1500)))
            kill(service.pid, SIGCONT)
        case .clockSet: try clock.shift(by: scene.seed.draw(number * 4 + 3, in: -3000...3000))
        case .folderRemoved: try? FileManager.default.removeItem(at: scene.buffer)
        case .descriptorsClosed: kill(service.pid, SIGUSR1)
        case .collectorKilled:
            let port = collector.port
            await collector.kill()
            collector = try await scene.collector(port: port)
        case .forked, .ended: break
        }
    }

    func expectTheServersCounts() async throws {
        gate.close()
        try await scene.drain(collector: collector.port)
        let tally = try await scene.tally()
        for (life, lost) in lost {
            let (served, reported) = (Self.sum(tally.served, of: life), Self.sum(tally.reported, of: life))
            // A batch whose answer was truncated has arrived, yet the service counts it as lost with the folder.
            #expect(
                reported <= served && reported + lost >= served,
                "\(life): \(reported) reported of \(served), \(lost) lost; \(scene.seed)")
        }
        let complaints = tally.complaints.filter { complaint in
            !lost.keys.contains { complaint.hasPrefix($0 + "/") }
        }
        #expect(complaints == [], "\(tally.totals) in all; \(scene.seed)")
        #expect(scene.waiting == [], "\(scene.seed)")
        #expect(tally.totals.ended > 0)
        print("a mixed load: \(tally.totals), lost with their folder: \(lost.values.reduce(0, +)); \(scene.seed)")
    }

    private static func sum(_ counts: [String: Int], of life: String) -> Int {
        counts.filter { $0.key.hasPrefix(life + "/") }.values.reduce(0, +)
    }

    private static let locales: [[String: String]] = [
        [:], ["LANG": "abcdefghijkl"], ["LC_ALL": "tr_TR.UTF-8"], ["TZ": "Nowhere/At_All"], ["TZ": ":/nonexistent"],
        ["LANG": "ar_EG", "TZ": "Asia/Kathmandu"],
    ]
}

extension Scene {
    /// Returns the number of a life's requests that reached the server.
    fileprivate func served(of life: String) -> Int {
        server.served.filter { $0.key.hasPrefix(life + "/") }.values.reduce(0, +)
    }
}
