import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// A store with three services. If one of them has an outage, an endpoint fails from the thirtieth minute on. The figures are the
/// same in each run.
struct OutageStore {
    /// The minute in which the outage begins, counted from the first one.
    static let outage = 30
    private static let minute: UInt64 = 60_000_000_000

    /// The beginning of the first minute.
    let start: UnixNanoseconds
    let path: String
    private let minutes: Int

    /// The end of the last minute.
    var end: UnixNanoseconds { start + UInt64(minutes) * Self.minute }
    /// A time at which the last minute has been read.
    var now: UnixNanoseconds { end + 10_000_000_000 }

    /// - Parameters:
    ///   - start: a whole minute.
    ///   - end: the minute in which the outage ends, counted from the first one.
    ///   - services: those that send, of which only `orders` has an outage.
    ///   - onStored: called with what was stored.
    init(
        in folder: TemporaryFolder, start: UnixNanoseconds = Samples.time(2_800), minutes: Int = 40, end: Int = .max,
        hasOutage: Bool = true, services: [String] = ["orders", "stock", "users"],
        environment: String? = "test",
        onStored: @escaping OnStored = { _, _ in }
    ) async throws {
        (self.start, self.minutes, path) = (start, minutes, folder.path("collector.sqlite"))
        let storage = try open(onStored: onStored)
        for service in services {
            let failing = hasOutage && service == "orders" ? Self.outage..<end : 0..<0
            let points = (0..<minutes * 6).flatMap { Self.points(in: $0, isFailing: failing.contains($0 / 6), start) }
            var resource = Samples.resource(service, instance: service + "-1")
            resource.environment = environment
            _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
        }
        try storage.close()
    }

    /// Opens the store at the end of its last minute.
    func open(
        limits: SQLiteLimits = SQLiteLimits(), onStored: @escaping OnStored = { _, _ in }
    ) throws -> SQLiteStorage {
        try SQLiteStorage(path: path, limits: limits, now: { [end] in end }, onStored: onStored)
    }

    private static func points(in slot: Int, isFailing: Bool, _ start: UnixNanoseconds) -> [RequestPoint] {
        let failed = isFailing ? 15 + slot % 3 : 0
        return [(200, 20 + slot % 5 - failed), (503, failed)].filter { $0.1 > 0 }.map { status, count in
            let seconds = (0..<count).map { 0.02 + 0.001 * Double(($0 * 7 + slot) % 11) }
            let dimensions = Samples.dimensions(
                .server, endpoint: "/orders", status: status, error: status == 503 ? "503" : nil)
            let end = start + UInt64(slot + 1) * 10_000_000_000
            return RequestPoint(
                dimensions: dimensions, start: end - 10_000_000_000, end: end, statistics: Samples.statistics(seconds))
        }
    }
}
