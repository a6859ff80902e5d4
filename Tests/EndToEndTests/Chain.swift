import Fixtures
import Foundation
import MartletClickHouseStorage
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Three running services that report to one collector. Each calls the next.
struct Chain {
    enum Front: String, Sendable {
        case urlSession = "urlsession"
        case asyncHTTPClient = "async-http-client"
    }

    private let folder: TemporaryFolder
    private let collector: CollectorProcess
    /// The services from the front to the back.
    private let services: [Service]

    init(front: Front, folder: TemporaryFolder, collector: CollectorProcess) async throws {
        self.folder = folder
        self.collector = collector
        let prices = try await Service(
            .testPython, [Repository.path("Tests/ChainService/python_service.py")],
            environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.address])
        let swift = { (name: String) in
            [
                "MARTLET_SERVICE_NAME": name, "MARTLET_SAMPLE_RATE": "1", "MARTLET_ENDPOINT": collector.address,
                "MARTLET_BUFFER_DIR": folder.path("buffer"), "HOME": folder.path("home"), "MARTLET_MAX_CPU": "100%",
            ]
        }
        let middle = try await Service(
            .chainService, [Front.asyncHTTPClient.rawValue, prices.address], environment: swift("middle"))
        let first = try await Service(.chainService, [front.rawValue, middle.address], environment: swift("front"))
        services = [first, middle, prices]
    }

    /// Sends a request to the front, and returns the trace in which the last service was called.
    func trace(of path: String) async throws -> TraceID {
        guard let url = URL(string: "\(services[0].address)/\(path)") else { throw ChildProcess.Failure(output: path) }
        let (data, _) = try await URLSession.shared.data(from: url)
        guard let trace = TraceID(hexDigits: data) else {
            throw ChildProcess.Failure(output: String(decoding: data, as: UTF8.self))
        }
        return trace
    }

    /// Ends the services from the front to the back. Afterwards the collector has all their records.
    func stop() async throws {
        for service in services { await service.process.stop(with: SIGTERM) }
    }

    /// Returns the spans of a trace in the order of the calls.
    func spans(of trace: TraceID) async throws -> [StoredSpan] {
        try await openStore().spans(ofTrace: trace, limit: 1000).spans
    }

    private func openStore() async throws -> any Storage {
        let path = folder.path("collector.sqlite")
        guard TestedStore.isClickHouse else { return try SQLiteStorage(readingFrom: path) }
        let location = try ClickHouseLocation(
            String(try await TestedStore.location(of: path).dropFirst("clickhouse:".count)))
        return try await ClickHouseStorage(at: location, ClickHouseCredentials([:]), now: SystemClock.now)
    }

    /// Returns the counts of requests by `service kind endpoint status`.
    func counts() async throws -> [String: Int] {
        let by: [MartletStorage.Dimension] = [.service, .kind, .endpoint, .status]
        let report = try await Probe(folder: folder, collector: collector.address)
            .report(by.flatMap { ["--by", $0.rawValue] })
        return Dictionary(
            uniqueKeysWithValues: report.rows.map { row in
                (by.map(row.shown).joined(separator: " "), Int(row.measures.count))
            })
    }
}

/// A process that prints its address.
private struct Service {
    let process: ChildProcess
    let address: String

    init(_ program: ChildProcess.Program, _ arguments: [String], environment: [String: String]) async throws {
        process = try ChildProcess(program, arguments, environment: environment)
        let line = await process.readLine()
        guard let start = line.range(of: "listening on ") else {
            throw ChildProcess.Failure(output: line + (await process.finish()).errors)
        }
        address = String(line[start.upperBound...])
    }
}
