import Fixtures
import Foundation
import Hummingbird
import MartletReports
import MartletStorage
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The programs of `Examples/Recipes`, unchanged. Only their own package builds the recipe for gRPC.
@Suite struct RecipeTests {
    let folder: TemporaryFolder
    let collector: CollectorProcess

    init() async throws {
        folder = try TemporaryFolder()
        collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
    }

    private func start(_ recipe: String, _ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess(
            .recipe(recipe), arguments,
            environment: [
                "MARTLET_SERVICE_NAME": "recipe", "MARTLET_SAMPLE_RATE": "1", "MARTLET_ENDPOINT": collector.address,
                "MARTLET_BUFFER_DIR": folder.path("buffer"), "HOME": folder.path("home"), "MARTLET_MAX_CPU": "100%",
            ])
    }

    /// Returns what a recipe printed until its end.
    private func run(_ recipe: String, _ arguments: [String] = []) async throws -> String {
        let (status, output, errors) = try await start(recipe, arguments).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors)") }
        return output
    }

    /// Returns the report's counts by `kind method endpoint`, each with its failures.
    private func counts() async throws -> [String: String] {
        let by: [MartletStorage.Dimension] = [.kind, .method, .endpoint]
        let report = try await Probe(folder: folder, collector: collector.address)
            .report(by.flatMap { ["--by", $0.rawValue] })
        return Dictionary(
            uniqueKeysWithValues: report.rows.map { row in
                let measures = row.measures
                return (
                    by.map(row.shown).joined(separator: " "),
                    "\(measures.count) requests, \(measures.failures.count) failed"
                )
            })
    }

    private func keptRequests() async throws -> [RequestSummary] {
        let url = try #require(URL(string: "\(collector.address)/api/v1/requests?since=1h&limit=100"))
        let (body, _) = try await URLSession.shared.data(from: url)
        return try ReportJSON.value(of: RequestsReport.self, in: body).requests
    }

    private func withShop(_ body: @escaping @Sendable (URL) async throws -> Void) async throws {
        let router = Router()
        router.get("stock/:product") { _, _ in "7" }
        router.get("prices/:product") { _, _ in "100" }
        try await LoopbackServer.run(router, body)
    }

    @Test func serviceOfTheFirstHourCountsIncomingAndOutgoingRequestsInOneTraceEach() async throws {
        try await withShop { shop in
            let service = try start("FirstHour", [shop.absoluteString])
            let line = await service.readLine()
            let start = try #require(line.range(of: "listening on "))
            let base = String(line[start.upperBound...])
            for path in ["orders/1", "orders/2", "orders/0", "nowhere"] {
                let url = try #require(URL(string: "\(base)/\(path)"))
                _ = try await URLSession.shared.data(from: url)
            }
            #expect(await service.stop(with: SIGTERM) == 0)
            #expect(
                try await counts() == [
                    "server GET /orders/{order}": "3 requests, 1 failed",
                    "server GET {unmatched}": "1 requests, 0 failed",
                    "client GET /stock/{id}": "2 requests, 0 failed",
                    "client GET /prices/{id}": "2 requests, 0 failed",
                ])
            let kept = try await keptRequests()
            let answered = Set(kept.filter { $0.kind == .server }.map(\.spanID))
            #expect(kept.filter { $0.kind == .client }.allSatisfy { answered.contains($0.parentSpanID ?? "") })
        }
    }

    @Test(
        .enabled(
            if: ChildProcess.Program.recipes != nil, "belongs to another lane: it needs the package of the recipes"))
    func gRPCCallsAreCountedByMethodOnBothSidesAndAreOneTrace() async throws {
        _ = try await run("gRPC")
        #expect(
            try await counts() == [
                "client POST shop.Orders/Place": "3 requests, 1 failed",
                "client POST shop.Orders/Find": "1 requests, 1 failed",
                "client POST shop.Orders/Watch": "1 requests, 0 failed",
                "server POST shop.Orders/Place": "3 requests, 1 failed",
                "server POST shop.Orders/Find": "1 requests, 0 failed",
                "server POST shop.Orders/Watch": "1 requests, 0 failed",
            ])
        let kept = try await keptRequests()
        #expect(kept.count == 10)
        #expect(Set(kept.map(\.traceID)).count == 1)
        let clients = kept.filter { $0.kind == .client }, servers = kept.filter { $0.kind == .server }
        #expect(Set(servers.map(\.parentSpanID)) == Set(clients.map(\.spanID)))
        #expect(clients.compactMap(\.error).sorted() == ["INTERNAL", "NOT_FOUND"])
        #expect(servers.compactMap(\.error) == ["INTERNAL"])
    }

    @Test func workerJobsAreTransactionsWithTheirOwnNames() async throws {
        _ = try await run("Worker")
        #expect(
            try await counts() == [
                "server _OTHER settle payments": "10 requests, 1 failed",
                "server _OTHER send receipts": "1 requests, 0 failed",
            ])
    }

    @Test func serviceWithItsOwnTracerIsCountedAndKeepsItsSpans() async throws {
        try await withShop { base in
            let output = try await run("OwnTracer", [base.absoluteString])
            #expect(output == "own tracer: restock\n")
            #expect(
                try await counts() == [
                    "client GET /stock/{id}": "1 requests, 0 failed",
                    "server _OTHER count the shelves": "1 requests, 0 failed",
                ])
        }
    }

    /// Readers build the recipes' own package. Martlet's package builds the same files, except those of gRPC.
    @Test func recipesPackageHasExactlyThesePrograms() async throws {
        struct Package: Decodable {
            struct Target: Decodable {
                let name: String
                let path: String
            }
            let targets: [Target]
        }
        let (status, output, errors) = try await ChildProcess(
            ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env")),
            [
                "swift", "package", "--package-path", Repository.path("Examples/Recipes"), "--scratch-path",
                folder.path("scratch"), "dump-package",
            ], environment: ProcessInfo.processInfo.environment
        ).finish()
        #expect(status == 0, "\(errors)")
        let targets = try JSONDecoder().decode(Package.self, from: Data(output.utf8)).targets
        #expect(Set(targets.map(\.name)) == Set(targets.map { "\($0.path)Recipe" }))
        let folders = try FileManager.default.contentsOfDirectory(atPath: Repository.path("Examples/Recipes"))
            .filter { !$0.contains(".") }
        #expect(Set(targets.map(\.path)) == Set(folders))
        for target in targets where ChildProcess.Program.recipes != nil || target.path != "gRPC" {
            let program = ChildProcess.Program.recipe(target.path).url.path
            #expect(FileManager.default.isExecutableFile(atPath: program), "\(target.name)")
        }
    }
}
