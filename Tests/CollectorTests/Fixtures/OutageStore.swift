import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// A store with 40 minutes of three services. If one of them has an outage, an endpoint fails in its last ten minutes. The figures
/// are the same in each run.
struct OutageStore {
    static let minutes = 40
    /// The minute in which the outage begins, counted from the first one.
    static let outage = 30
    private static let minute: UInt64 = 60_000_000_000

    /// The beginning of the first minute.
    let start: UnixNanoseconds
    let path: String

    /// The end of the last minute.
    var end: UnixNanoseconds { start + UInt64(Self.minutes) * Self.minute }
    /// A time at which the last minute has been read.
    var now: UnixNanoseconds { end + 10_000_000_000 }

    /// - Parameter start: a whole minute.
    init(
        in folder: TemporaryFolder, start: UnixNanoseconds = Samples.time(2_800), hasOutage: Bool = true
    ) async throws {
        (self.start, path) = (start, folder.path("collector.sqlite"))
        let storage = try open()
        for service in ["orders", "stock", "users"] {
            let points = (0..<Self.minutes * 6).flatMap { slot in
                points(in: slot, isFailing: hasOutage && service == "orders" && slot >= Self.outage * 6)
            }
            let resource = Samples.resource(service, instance: service + "-1")
            _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
        }
        try storage.close()
    }

    /// Opens the store at the end of its last minute.
    func open(limits: SQLiteLimits = SQLiteLimits()) throws -> SQLiteStorage {
        try SQLiteStorage(path: path, limits: limits, now: { [end] in end })
    }

    private func points(in slot: Int, isFailing: Bool) -> [RequestPoint] {
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
