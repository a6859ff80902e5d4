import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// Two senders, each with its own requests. They differ in every dimension, and both have a value in each.
struct TwoSenders {
    /// A sender, and all of its requests: the same one ``count`` times, of which one is kept.
    struct Sender {
        let resource: TelemetryResource
        let request: RequestDimensions

        /// Returns the value of a dimension. A dimension without one fails the test: give both senders a value.
        func value(of dimension: Dimension) throws -> String {
            try #require(
                dimension.value(of: request, from: resource), "TwoSenders has no value of \(dimension.rawValue)")
        }
    }

    static let count: UInt64 = 50

    /// Its requests failed.
    static let failing = Sender(
        resource: TelemetryResource(service: "checkout", version: "1.2", environment: "test", instance: "i-1"),
        request: request(
            .client, "elasticsearch", "GET", "api.example.com", 8443, "/users/{id}", status: 404, error: "404",
            rule: "drill"))

    /// Its requests did not fail.
    static let sound = Sender(
        resource: TelemetryResource(service: "cart", version: "2.0", environment: "live", instance: "i-2"),
        request: request(
            .server, "grpc", "POST", "cart.internal", 8080, "/items", status: 200, error: "cancelled",
            rule: "rehearsal"))

    /// A window of whole hours, because points of this age are kept by the hour.
    static let window = (since: "2026-09-21T14:00:00Z", until: "2026-09-21T15:00:00Z")

    /// Returns both values of a dimension in their order.
    static func values(of dimension: Dimension) throws -> [String] {
        try [failing.value(of: dimension), sound.value(of: dimension)].sorted()
    }

    /// Stores all requests.
    static func fill(_ storage: some Storage) async throws {
        for (number, sender) in [failing, sound].enumerated() {
            let point = Samples.point(sender.request, Array(repeating: 0.1, count: Int(count)))
            let ledger = LedgerReading(time: Samples.time(10), captured: count, waiting: count)
            var span = Samples.detail(UInt8(number + 1))
            span.request = sender.request
            span.kind = sender.request.kind == .client ? .client : .server
            _ = try await storage.store(
                [InstanceMetrics(resource: sender.resource, points: [point], ledger: ledger)], of: nil)
            _ = try await storage.store([DetailsBatch(resource: sender.resource, details: [span])], of: nil)
        }
    }

    /// Makes a file with all requests.
    static func fill(_ path: String) async throws {
        let storage = try SQLiteStorage(path: path, now: { Samples.time(20) })
        try await fill(storage)
        try storage.close()
    }

    private static func request(
        _ kind: RequestKind, _ system: String, _ method: String, _ host: String, _ port: Int, _ endpoint: String,
        status: Int, error: String, rule: String
    ) -> RequestDimensions {
        var request = RequestDimensions(
            kind: kind, method: method, host: host, port: port, endpoint: endpoint, status: status, error: error)
        (request.system, request.rule) = (system, rule)
        return request
    }
}
