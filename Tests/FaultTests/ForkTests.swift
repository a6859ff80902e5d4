import Fixtures
import Foundation
import MartletReports
import Testing

extension FaultTests {
    /// A service that forks without executing another program: each of its processes has its own agent, and no agent
    /// touches another's files.
    @Suite(
        .serialized,
        .enabled(
            if: TestedTransport.environment.isEmpty, "after an upload over URLSession a child's URLSession is dead"))
    struct ForkTests {
        @Test func serverAndItsForkedWorkersAreThreeInstancesThatLoseNothing() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("workers", collector: collector.port, isFull ? 1000 : 200) == "0")
                try await scene.expectEverythingCountedOnce()
                let ledgers = try await scene.agents(of: scene.store).agents.compactMap(\.ledger)
                #expect(ledgers.map { Int($0.captured) } == [200, 200, 200].map { isFull ? 5 * $0 : $0 })
                #expect(ledgers.allSatisfy { $0.captured == $0.delivered }, "\(scene.seed)")
            }
        }

        @Test func parentWithABusyChildDelivers() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("busyChild", collector: collector.port, 100) == "0")
                try await scene.expect(["/life/child": 100, "/life/parent": 100, "/span": 100])
            }
        }

        /// At some of these forks, another thread holds one of the agent's locks; each lock occurs.
        @Test func childrenForkedWhileOtherThreadsRecordNeitherTrapNorBlock() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("underLoad", collector: collector.port, isFull ? 1000 : 60) == "0")
                let report = try await scene.report(of: scene.store)
                let rows = report.rows.filter { $0.dimensions[.host] == "child.test:80" }
                #expect(rows.map(\.measures.count) == [isFull ? 10_000 : 600], "\(scene.seed)")
                #expect(report.completeness == 1, "\(scene.seed)")
            }
        }

        @Test func daemonDeliversAfterTheEndOfItsParent() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("daemon", collector: collector.port, 100) == "100")
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test func childsRequestsArriveEvenWhenItsParentHasUsedQueues() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("queues", collector: collector.port, 100) == "0")
                try await scene.drain(collector: collector.port)
                try await scene.expect(["/span": 100])
            }
        }

        @Test func parentsRulesChangeAChildsFirstRequest() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let file = scene.folder.path("rules.json5")
                try Data("{ rules: [ { match: { path: '/life/*' }, respond: { status: 503 } } ] }".utf8)
                    .write(to: URL(fileURLWithPath: file))
                let failures = try await scene.play(
                    "rules", collector: collector.port, 20, environment: ["MARTLET_RULES": file])
                #expect(failures == "0")
                #expect(scene.server.total == 0, "\(scene.seed)")
                try await scene.expect(["/life/child": 20])
            }
        }

        @Test func childOfAChildIsAnInstanceToo() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("grandchildren", collector: collector.port, 100) == "0")
                try await scene.expect(["/life/grandchild": 100, "/span": 100])
                #expect(scene.waiting == [], "\(scene.seed)")
            }
        }
    }
}

extension Scene {
    /// Runs a scene of `ForkProgram`.
    ///
    /// - Returns: the text that the program prints.
    func play(
        _ name: String, collector port: Int, _ requests: Int, environment: [String: String] = [:]
    ) async throws -> String {
        let program = try start(
            "life", collector: port, requests: requests, ["--scene", name], environment: environment,
            program: .forkProgram)
        let (status, output, errors) = await program.finish()
        #expect(status == 0, "\(errors); \(seed)")
        return output.trimmingCharacters(in: .newlines)
    }

    /// Expects the report to be complete and to have exactly these endpoints with these counts.
    func expect(_ counts: [String: Int]) async throws {
        let report = try await report(of: store)
        let reported = report.rows.map { (($0.dimensions[.endpoint] ?? nil) ?? "-", Int($0.measures.count)) }
        #expect(Dictionary(reported) { $0 + $1 } == counts, "\(seed)")
        #expect(report.completeness == 1, "\(seed)")
    }
}
