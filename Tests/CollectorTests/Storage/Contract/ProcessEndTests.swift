import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// The ends of processes.
    @Suite struct ProcessEndTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder, now: { Samples.time(1000) })
        }

        private static func end(
            _ instance: String, at seconds: UInt64, version: String? = "1.2", cause: EndCause = .killed
        ) -> ReportedEnd {
            ReportedEnd(instance: instance, version: version, time: Samples.time(seconds), cause: cause)
        }

        private func store(
            _ ends: [ReportedEnd], _ service: String = "checkout", from reporter: String = "new",
            batch: BatchID? = nil
        ) async throws {
            var metrics = InstanceMetrics(resource: Samples.resource(service, instance: reporter), points: [])
            metrics.ends = ends
            _ = try await storage.store([metrics], of: batch)
        }

        private func ends(
            _ window: TimeWindow = Samples.everything, _ filter: RequestFilter = RequestFilter(), limit: Int = 100
        ) async throws -> [StoredEnd] {
            try await storage.processEnds(in: window, filter, limit: limit)
        }

        @Test func endIsReadAsItWasReported() async throws {
            var end = Self.end("old", at: 7, cause: .signal)
            (end.signal, end.function, end.file) = ("SIGILL", "crash() -> ()", "App/it's \\ main.swift")
            (end.line, end.endpoint) = (41, "GET /files/{name}")
            let bare = Self.end("older", at: 6, version: nil, cause: .unknown)
            try await store([bare, end])
            let expected = [end, bare].map {
                StoredEnd(service: "checkout", environment: "test", reporter: "new", end: $0)
            }
            #expect(try await ends() == expected)
        }

        /// The batch is sent again, cut in another way, and the same end is reported by another process, too.
        @Test func endIsKeptOnce() async throws {
            let batch = BatchID(instance: "new", sequence: 1, signal: .metrics)
            for _ in 1...2 { try await store([Self.end("old", at: 7)], batch: batch) }
            let next = BatchID(instance: "new", sequence: 2, signal: .metrics)
            try await store([Self.end("old", at: 7), Self.end("it's", at: 8)], batch: next)
            try await store([Self.end("old", at: 7), Self.end("it's", at: 8)], from: "another")
            #expect(try await ends().map(\.end.instance) == ["it's", "old"])
            #expect(try await ends().map(\.reporter) == ["new", "new"])
        }

        @Test func instanceMayEndAgainAndShareItsNameWithAnotherService() async throws {
            try await store([Self.end("pod-0", at: 7), Self.end("pod-0", at: 8)])
            try await store([Self.end("pod-0", at: 7)], "prices")
            #expect(try await ends().count == 3)
        }

        @Test func windowFilterAndLimitSelectEnds() async throws {
            try await store([Self.end("a", at: 10), Self.end("b", at: 20, version: "1.3"), Self.end("c", at: 30)])
            try await store([Self.end("d", at: 20)], "prices")
            let window = TimeWindow(from: Samples.time(10), to: Samples.time(20))
            #expect(try await ends(window).map(\.end.instance) == ["b", "d"])
            let filters: [([MartletStorage.Dimension: Set<String>], [String])] = [
                ([.service: ["checkout"]], ["c", "b", "a"]), ([.version: ["1.3"]], ["b"]), ([.instance: ["a"]], ["a"]),
                ([.environment: ["test"], .service: ["prices"]], ["d"]), ([.environment: [""]], []),
                ([.endpoint: ["/none"], .service: ["prices"]], ["d"]),
            ]
            for (filter, expected) in filters {
                #expect(
                    try await ends(Samples.everything, RequestFilter(filter)).map(\.end.instance) == expected,
                    "\(filter)")
            }
            #expect(try await ends(limit: 2).map(\.end.instance) == ["c", "b"])
        }
    }
}
