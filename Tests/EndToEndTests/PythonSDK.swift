import Fixtures
import Foundation

/// A running `python_sdk.py`.
struct PythonSDK {
    /// Values of the SDK's own variables.
    enum Temporality: String, CaseIterable { case delta, cumulative }

    enum Histogram: String, CaseIterable {
        case explicit = "explicit_bucket_histogram"
        case exponential = "base2_exponential_bucket_histogram"
    }

    enum Way: String { case export, forward, json }

    /// The program's own count of the requests that it measured.
    struct Series: Decodable {
        let service: String
        let kind: String
        let endpoint: String
        let status: Int
        let seconds: [Double]
        let bytes: UInt64
    }

    private let process: ChildProcess

    init(_ temporality: Temporality, _ histogram: Histogram, way: Way, rounds: Int, collector: String) throws {
        process = try ChildProcess(
            .testPython, [Repository.path("Tests/EndToEndTests/python_sdk.py"), way.rawValue, "\(rounds)"],
            environment: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
                "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": temporality.rawValue,
                "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION": histogram.rawValue,
                "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            ])
    }

    /// Returns when the program has sent a round and waits.
    func waitForRound() async throws {
        guard await process.readLine() == "waiting" else {
            throw ChildProcess.Failure(output: await process.finish().errors)
        }
    }

    func startRound() { kill(process.pid, SIGUSR1) }

    func goOn() async throws {
        try await waitForRound()
        startRound()
    }

    /// Waits for the end of the program, and returns its count. The collector then has all its telemetry.
    func finish() async throws -> [Series] {
        let (status, output, errors) = await process.finish()
        guard status == 0 else { throw ChildProcess.Failure(output: errors) }
        return try JSONDecoder().decode([Series].self, from: Data(output.utf8))
    }
}
