import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// Collectors that store in two shards with several replicas each. Part of the full form, because it has up to nine
    /// servers.
    @Suite(
        .serialized,
        .enabled(if: isFull && ClickHouseCluster.isInstalled, "the full form, with ClickHouse and ZooKeeper"))
    struct ClickHouseClusterTests {
        @Test func everyRequestIsCountedOnceWhileReplicasAreDown() async throws {
            try await Scene.run { scene in
                let cluster = try ClickHouseCluster(in: scene.folder.url.appendingPathComponent("clickhouse"))
                let fleet = try await ClickHouseFleet(in: scene, cluster)
                let ports = [try await fleet.addCollector(), try await fleet.addCollector()]
                let environment = await fleet.environment
                let service = try scene.start("life", collector: ports[0], ["--lifecycle"], environment: environment)
                // The second replica of the second shard, and the first server that each collector tries.
                for server in [cluster.servers[3], cluster.servers[0]] {
                    try await scene.wait(while: service, requests: scene.server.total + 300)
                    server.kill()
                    try await fleet.migrate()
                    // With one of two replicas, nothing can be stored.
                    try await fleet.awaitReadiness(503)
                    // Reports are still answered.
                    _ = try await scene.report(of: fleet.store)
                    try await server.start()
                    try await fleet.awaitReadiness(200)
                }
                kill(service.pid, SIGTERM)
                let end = try await scene.end(of: service)
                #expect(end.lost == 0 && end.captured == scene.server.total, "\(end); \(scene.seed)")
                try await fleet.expectEverythingCountedOnce()
                print("replicas away: \(end.captured) requests, each counted once; \(scene.seed)")
                withExtendedLifetime(cluster) {}
            }
        }

        @Test func batchesAreStoredWhileOneOfThreeReplicasIsDown() async throws {
            try await Scene.run { scene in
                let cluster = try ClickHouseCluster(
                    in: scene.folder.url.appendingPathComponent("clickhouse"), replicas: 3)
                let fleet = try await ClickHouseFleet(in: scene, cluster)
                let ports = [try await fleet.addCollector(), try await fleet.addCollector()]
                let environment = await fleet.environment
                let service = try scene.start("life", collector: ports[0], ["--lifecycle"], environment: environment)
                // One replica of each shard, including the first server that each collector tries.
                try await scene.wait(while: service, requests: 300)
                for server in [cluster.servers[0], cluster.servers[5]] { server.kill() }
                let known = try await scene.tally(store: fleet.store).totals.reported
                while try await scene.tally(store: fleet.store).totals.reported < known + 300 {
                    try await scene.wait(while: service, requests: scene.server.total + 100)
                }
                for server in [cluster.servers[0], cluster.servers[5]] { try await server.start() }
                try await scene.wait(while: service, requests: scene.server.total + 300)
                kill(service.pid, SIGTERM)
                let end = try await scene.end(of: service)
                #expect(end.lost == 0 && end.captured == scene.server.total, "\(end); \(scene.seed)")
                try await fleet.expectEverythingCountedOnce()
                print("one replica of three away: \(end.captured) requests, each counted once; \(scene.seed)")
                withExtendedLifetime(cluster) {}
            }
        }
    }
}
