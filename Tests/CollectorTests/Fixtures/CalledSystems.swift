import Fixtures
import HummingbirdTesting
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// Two services that call one PostgreSQL. One of them also calls a host both as Elasticsearch and over HTTP.
enum CalledSystems {
    static let select = request("postgresql", "SELECT", "db.internal", 5432, "SELECT users")
    static let refused = request("postgresql", "INSERT", "db.internal", 5432, "INSERT orders", error: "23505")
    private static let search = request("elasticsearch", "search", "es", 9200, "search")
    private static let health = request(nil, "GET", "es", 9200, "/_cluster/health", status: 200)

    static func request(
        _ system: String?, _ method: String, _ host: String, _ port: Int, _ endpoint: String, status: Int? = nil,
        error: String? = nil
    ) -> RequestDimensions {
        var request = RequestDimensions(
            kind: .client, method: method, host: host, port: port, endpoint: endpoint, status: status, error: error)
        request.system = system
        return request
    }

    /// Stores all counts, and a span of each of the two operations of PostgreSQL.
    static func fill(_ storage: some Storage) async throws {
        try await count([(select, 6), (refused, 2), (search, 4), (health, 3)], of: "shop", in: storage)
        try await count([(select, 1)], of: "desk", in: storage)
        let details = DetailsBatch(resource: resource("shop"), details: [span(1, select), span(2, refused)])
        _ = try await storage.store([details], of: nil)
    }

    private static func resource(_ service: String) -> TelemetryResource {
        Samples.resource(service, instance: "\(service)-1")
    }

    static func count(
        _ requests: [(RequestDimensions, Int)], of service: String, in storage: some Storage
    ) async throws {
        let points = requests.map { Samples.point($0, Array(repeating: 0.1, count: $1), end: 50) }
        let count = UInt64(requests.reduce(0) { $0 + $1.1 })
        let ledger = LedgerReading(time: Samples.time(50), captured: count, waiting: count)
        _ = try await storage.store(
            [InstanceMetrics(resource: resource(service), points: points, ledger: ledger)], of: nil)
    }

    private static func span(_ number: UInt8, _ request: RequestDimensions) -> SpanRecord {
        var span = Samples.detail(number)
        (span.name, span.request, span.start) = (request.endpoint, request, Samples.time(45))
        (span.url, span.message, span.isError) = ("", nil, request.error != nil)
        (span.bytesSent, span.bytesReceived) = (0, 0)
        span.attributes = ["db.query.text": .string("\(request.method) ?")]
        return span
    }
}

/// Runs a collector whose store has the requests of ``CalledSystems``.
func withCalledSystems(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
    try await withServer(filling: { try await CalledSystems.fill($0) }, body)
}

/// Runs a collector whose store was filled before.
func withServer(
    filling fill: (SQLiteStorage) async throws -> Void,
    _ body: @Sendable (any TestClientProtocol) async throws -> Void
) async throws {
    let folder = try TemporaryFolder()
    let storage = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { Samples.time(58) })
    try await fill(storage)
    try storage.close()
    try await withServer(store: folder.path("collector.sqlite"), clock: { Samples.time(58) }, body)
}
