import Fixtures
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import MartletIntake
import MartletOTLP
import MartletReports
import MartletSQLiteStorage
import MartletServer
import MartletStorage
import MartletTelemetry

/// Runs a collector over real HTTP with a real store while `body` runs.
///
/// - Parameters:
/// - clock: the store's clock, which sets the time of arrival.
///   - now: the server's clock.
func withServer(
    limits: IntakeLimits = IntakeLimits(), tokens: ServerTokens = ServerTokens(),
    serverLimits: ServerLimits = ServerLimits(), store path: String? = nil,
    activity: CollectorActivity = CollectorActivity(),
    clock: @escaping @Sendable () -> UnixNanoseconds = SystemClock.now,
    now: @escaping @Sendable () -> UnixNanoseconds = { Samples.time(60) },
    log: any LogHandler = SwiftLogNoOpLogHandler(),
    storage wrap: (SQLiteStorage) -> any Storage = { $0 }, prepare: (CollectorServer) async -> Void = { _ in },
    _ body: @Sendable (any TestClientProtocol) async throws -> Void
) async throws {
    let folder = try TemporaryFolder()
    let storage = try SQLiteStorage(path: path ?? folder.path("collector.sqlite"), now: clock, onStored: activity.add)
    let server = CollectorServer(
        storage: wrap(storage), activity: activity, intake: Intake(limits: limits), tokens: tokens,
        limits: serverLimits, now: now,
        logger: Logger(label: "test", factory: { _ in log }))
    await prepare(server)
    let application = try server.application(at: ListenAddress(host: "127.0.0.1", port: 0))
    try await application.test(.live) { try await body($0) }
}

extension TestClientProtocol {
    /// Sends a POST request. Headers with a `nil` value are left out.
    func post(
        _ body: [UInt8], to path: String = "/v1/metrics", type: String? = "application/x-protobuf",
        encoding: String? = nil, batch: String? = nil,
        token: String? = nil
    ) async throws -> TestResponse {
        var headers = HTTPFields()
        headers[.contentType] = type
        headers[.contentEncoding] = encoding
        headers[.authorization] = token.map { "Bearer \($0)" }
        if let batch { headers.append(.init(name: .init(BatchID.headerName) ?? .accept, value: batch)) }
        return try await executeRequest(
            uri: path, method: .post, headers: headers, body: ByteBuffer(bytes: body))
    }

    func get(_ uri: String, token: String? = nil) async throws -> TestResponse {
        var headers = HTTPFields()
        headers[.authorization] = token.map { "Bearer \($0)" }
        return try await executeRequest(uri: uri, method: .get, headers: headers, body: nil)
    }

    /// Returns the number of requests that the collector reports.
    func count() async throws -> Int {
        let response = try await get("/api/v1/report?since=1h")
        return Int(try ReportJSON.value(of: Report.self, in: Data(buffer: response.body)).totals.measures.count)
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }

    /// The message of the google.rpc.Status in the body.
    var reason: String {
        get throws { try RPCStatus(serializedBytes: [UInt8](buffer: body)).message }
    }
}

extension Samples {
    /// Returns a batch of five requests in the ten seconds before ``time(10)``.
    static func body(endpoint: String = "/users/{id}") throws -> [UInt8] {
        let batch = MetricsBatch(
            resource: resource(), start: time(0), end: time(10),
            series: [dimensions(endpoint: endpoint): statistics([0.1, 0.1, 0.2, 0.3, 3], received: 2048)],
            ledger: Ledger(captured: 5, waiting: 5))
        return try batch.otlp()
    }
}

extension IngestTokens: ExpressibleByStringLiteral {
    /// One token, for a test.
    package convenience init(stringLiteral token: String) { self.init([token]) }
}
