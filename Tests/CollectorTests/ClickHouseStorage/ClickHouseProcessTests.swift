import Fixtures
import Foundation
import Testing

/// A collector process with its own ClickHouse.
@Suite(
    .serialized, .timeLimit(.minutes(3)), .enabled(if: ClickHouseServer.isInstalled, "a ClickHouse is installed"),
    .disabled(if: TestedStore.isClickHouse, "the suite has servers of its own"))
struct ClickHouseProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await ChildProcess(.martletCollector, arguments, environment: environment).finish()
    }

    @Test func serverOfHTTPSIsTrustedOnlyByTheGivenAuthority() async throws {
        let (authority, other) = (try await Authority("ours", in: folder), try await Authority("other", in: folder))
        let server = try ClickHouseServer(
            in: folder.url.appendingPathComponent("clickhouse"), tls: try await authority.sign("server"))
        try await server.start()
        let store = "clickhouse:\(server.url)/martlet"
        let trusting = ["MARTLET_CLICKHOUSE_CERTIFICATE": authority.certificate]
        #expect(try await run(["migrate", "--store", store], environment: trusting).status == 0)
        for variables in [[:], ["MARTLET_CLICKHOUSE_CERTIFICATE": other.certificate]] {
            let (status, _, errors) = try await run(["report", "--store", store], environment: variables)
            #expect(status == 2 && errors.contains("no ClickHouse server answers"))
        }
        let missing = ["MARTLET_CLICKHOUSE_CERTIFICATE": folder.path("missing")]
        let failure = try await run(["serve", "--port", "0", "--store", store], environment: missing)
        #expect(failure.status == 2 && failure.errors.contains("MARTLET_CLICKHOUSE_CERTIFICATE: "))

        let collector = try await CollectorProcess(store: store, environment: trusting)
        #expect(try await collector.post(try Samples.body(), batch: "i-1/1/metrics") == 200)
        let agents = try await run(["agents", "--format", "json", "--store", store], environment: trusting)
        #expect(agents.status == 0 && agents.output.contains("\"instance\" : \"i-1\""))
        #expect(await collector.terminate() == 0)
        withExtendedLifetime(server) {}
    }

    @Test func collectorWaitsForAClickHouseThatStartsLater() async throws {
        let server = try ClickHouseServer(in: folder.url.appendingPathComponent("clickhouse"))
        try await server.start()
        let store = "clickhouse:\(server.url)/martlet"
        #expect(try await run(["migrate", "--store", store]).status == 0)
        server.kill()
        let process = try ChildProcess(.martletCollector, ["serve", "--port", "0", "--store", store], environment: [:])
        try await process.hasLogged("waiting for ClickHouse")
        try await server.start()
        #expect(await process.readLine().contains("listening on "))
        #expect(await process.stop(with: SIGTERM) == 0)
    }
}
