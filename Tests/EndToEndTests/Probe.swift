import Fixtures
import Foundation
import MartletReports
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The JSON that `ProbeService` prints at its end.
struct ProbeResult: Decodable {
    let captured: UInt64
    let delivered: UInt64
    let waiting: UInt64
    let milliseconds: [String: [Double]]
    let burden: Burden?

    /// See the probe's own type of the same name.
    struct Burden: Decodable {
        let cpuSeconds: Double
        let files: Int
        let blockedSeconds: Double
    }

    var requests: Int { milliseconds.values.reduce(0) { $0 + $1.count } }
}

/// Starts the probe and reads the collector's report, as a user would.
struct Probe {
    let folder: TemporaryFolder
    let collector: String

    var buffer: String { folder.path("buffer") }

    func start(
        _ server: URL, requests: Int, concurrency: Int = 8, hasBurden: Bool = false,
        environment: [String: String] = [:],
        program: ChildProcess.Program = .probeService
    ) throws -> ChildProcess {
        let own = [
            "MARTLET_ENDPOINT": collector, "MARTLET_BUFFER_DIR": buffer, "MARTLET_INTERVAL": "200ms",
            "MARTLET_SERVICE_NAME": "probe", "HOME": folder.path("home"),
        ].merging(TestedTransport.environment) { $1 }
        return try ChildProcess(
            program, [server.absoluteString, "\(requests)", "\(concurrency)"] + (hasBurden ? ["burden"] : []),
            environment: own.merging(environment) { $1 })
    }

    func finish(_ process: ChildProcess) async throws -> ProbeResult {
        let (status, output, errors) = await process.finish()
        guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors)") }
        return try JSONDecoder().decode(ProbeResult.self, from: Data(output.utf8))
    }

    /// Returns the answer of the API about processes.
    func processes(_ query: String = "since=1h") async throws -> ProcessReport {
        let url = try #require(URL(string: "\(collector)/api/v1/process?\(query)"))
        let (body, _) = try await URLSession.shared.data(from: url)
        return try ReportJSON.value(of: ProcessReport.self, in: body)
    }

    func report(_ flags: [String] = []) async throws -> Report {
        let arguments = ["report", "--since", "1h", "--format", "json", "--collector", collector] + flags
        let (status, output, errors) = try await ChildProcess(.martletCollector, arguments).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors)") }
        return try ReportJSON.value(of: Report.self, in: Data(output.utf8))
    }
}
