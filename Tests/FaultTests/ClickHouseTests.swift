import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// Collectors that store in one ClickHouse 18.16, and a ClickHouse that is down, refuses, or is slow.
    @Suite(.serialized, .enabled(if: ClickHouseServer.isInstalled, "no ClickHouse is installed"))
    struct ClickHouseTests {
        @Test func everyRequestIsCountedOnceWhileCollectorsAndClickHouseAreKilled() async throws {
            try await Scene.run { scene in
                let fleet = try await ClickHouseFleet(in: scene)
                let ports = [try await fleet.addCollector(), try await fleet.addCollector()]
                let environment = await fleet.environment
                let services = try ["one", "two"].map {
                    try scene.start($0, collector: ports[0], ["--lifecycle"], environment: environment)
                }
                let faults = ClickHouseFleet.Killed.allCases
                for round in 0..<(isFull ? 50 : 2) {
                    let next = scene.server.total + scene.seed.draw(round * 3, in: 50...600)
                    try await scene.wait(while: services[0], requests: next)
                    let killed = isFull ? faults[scene.seed.draw(round * 3 + 1, in: 0...2)] : faults[round]
                    try await fleet.kill(killed, collector: scene.seed.draw(round * 3 + 2, in: 0...1))
                }
                var captured = 0
                for service in services {
                    kill(service.pid, SIGTERM)
                    let end = try await scene.end(of: service)
                    #expect(end.lost == 0, "\(end); \(scene.seed)")
                    captured += end.captured
                }
                #expect(captured == scene.server.total, "\(scene.seed)")
                try await fleet.expectEverythingCountedOnce()
                print("collectors and ClickHouse killed: \(captured) requests, each counted once; \(scene.seed)")
            }
        }

        /// The rows of a batch are in ClickHouse, up to those of one table, but the collector has not acknowledged
        /// them.
        @Test(arguments: isFull ? ["point", "ledger", "sender", "series", "batch"] : ["point"])
        func batchCountsOnceIfTheCollectorIsKilledBetweenInsertAndAnswer(table: String) async throws {
            try await Scene.run { scene in
                let fleet = try await ClickHouseFleet(in: scene)
                let gate = try Gate(collector: fleet.servers[0].port) { message, earlier in
                    let isSecond = earlier.count { $0.message.inserts(into: table) } == (table == "series" ? 0 : 1)
                    return message.inserts(into: table) && isSecond ? .storeThenHang : .pass
                }
                let port = try await fleet.addCollector(behind: gate)
                let environment = await fleet.environment
                let service = try scene.start("life", collector: port, ["--lifecycle"], environment: environment)
                try await scene.wait(while: service) { gate.uploads.contains { $0.treatment == .storeThenHang } }
                await fleet.killCollector()
                // ClickHouse has answered the insert by then.
                try await scene.wait(while: service) { !gate.isBusy }
                _ = try await fleet.addCollector(port: port)
                try await scene.wait(while: service, requests: scene.server.total + 200)
                kill(service.pid, SIGTERM)
                #expect(try await scene.end(of: service).lost == 0, "\(scene.seed)")
                try await fleet.expectEverythingCountedOnce()
            }
        }

        /// A connection that breaks before, during or after a statement.
        @Test(.enabled(if: isFull, "the full form")) func everyRequestIsCountedOnceOverABadNetworkToClickHouse()
            async throws
        {
            try await Scene.run { scene in
                let (fleet, seed) = (try await ClickHouseFleet(in: scene), scene.seed)
                let gate = try Gate(collector: fleet.servers[0].port) { _, earlier in
                    // The first requests come from the collector's start.
                    guard 10..<300 ~= earlier.count else { return .pass }
                    let treatment = Treatment.random(earlier.count, seed)
                    return treatment == .storeThenHang ? .storeThenReset : treatment
                }
                let port = try await fleet.addCollector(behind: gate)
                let environment = await fleet.environment
                let service = try scene.start("life", collector: port, ["--lifecycle"], environment: environment)
                try await scene.wait(while: service) { gate.uploads.count > 350 }
                kill(service.pid, SIGTERM)
                #expect(try await scene.end(of: service).lost == 0, "\(scene.seed)")
                try await fleet.expectEverythingCountedOnce()
            }
        }

        @Test func readOnlyClickHouseRefusesBatchesAndLosesNone() async throws {
            try await Scene.run { scene in
                let fleet = try await ClickHouseFleet(in: scene)
                let port = try await fleet.addCollector()
                let environment = await fleet.environment
                let service = try scene.start("life", collector: port, ["--lifecycle"], environment: environment)
                try await scene.wait(while: service, requests: 100)
                try fleet.servers[0].setReadOnly(true)
                try await fleet.awaitReadiness(503)
                #expect(try await fleet.post() == 503, "\(scene.seed)")
                // Reports are still answered.
                _ = try await scene.report(of: "http://127.0.0.1:\(port)")
                try fleet.servers[0].setReadOnly(false)
                try await fleet.awaitReadiness(200)
                kill(service.pid, SIGTERM)
                #expect(try await scene.end(of: service).lost == 0, "\(scene.seed)")
                try await fleet.expectEverythingCountedOnce()
            }
        }

        @Test(.enabled(if: Mount.isAllowed, "this process may not mount a file system"))
        func clickHouseWithAFullDiskRefusesBatchesAndLosesNone() async throws {
            try await Scene.run { scene in
                try await Mount.run(in: scene, mebibytes: 256, inodes: 100_000) { disk in
                    let fleet = try await ClickHouseFleet(
                        in: scene, data: disk.url.appendingPathComponent("clickhouse"))
                    let port = try await fleet.addCollector()
                    let environment = await fleet.environment
                    let service = try scene.start("life", collector: port, ["--lifecycle"], environment: environment)
                    for _ in 0..<(isFull ? 5 : 1) {
                        try await scene.wait(while: service, requests: scene.server.total + 100)
                        try disk.fill()
                        try await fleet.awaitReadiness(503)
                        // Reports are still answered.
                        _ = try await scene.report(of: "http://127.0.0.1:\(port)")
                        disk.empty()
                        try await fleet.awaitReadiness(200)
                    }
                    kill(service.pid, SIGTERM)
                    #expect(try await scene.end(of: service).lost == 0, "\(scene.seed)")
                    try await fleet.expectEverythingCountedOnce()
                    for server in fleet.servers { server.kill() }
                }
            }
        }

        /// The time limit of a statement is 30 s, so this case is only part of the full form.
        @Test(.enabled(if: isFull, "the full form")) func slowClickHouseLosesNothing() async throws {
            try await Scene.run { scene in
                let fleet = try await ClickHouseFleet(in: scene)
                let gate = try Gate(collector: fleet.servers[0].port) { message, earlier in
                    let slow = earlier.count { $0.treatment == .storeThenHang }
                    return message.inserts(into: "point") && slow < 2 ? .storeThenHang : .pass
                }
                let port = try await fleet.addCollector(behind: gate)
                let environment = await fleet.environment
                let service = try scene.start("life", collector: port, ["--lifecycle"], environment: environment)
                try await fleet.awaitReadiness(503)
                try await fleet.awaitReadiness(200)
                kill(service.pid, SIGTERM)
                #expect(try await scene.end(of: service).lost == 0, "\(scene.seed)")
                try await fleet.expectEverythingCountedOnce()
            }
        }
    }
}
