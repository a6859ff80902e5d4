import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Synchronization

@testable import MartletReports

/// A store with two hours of a shop, from ``start`` on, after a day like the first of them. Some endpoints change when the second hour
/// begins, and one version follows another. The figures are the same in each run.
struct ComparedStore {
    /// The beginning of the first hour, a whole one.
    static let start = Samples.time(2_800)
    static let hour: UInt64 = 3_600_000_000_000
    /// The second hour.
    static let window = TimeWindow(from: start + hour, to: start + 2 * hour)

    let path: String
    let storage: SQLiteStorage
    let clock = Clock()

    /// The traffic of an endpoint in an hour.
    struct Traffic {
        /// Requests in each interval of 10 s.
        var requests = 8
        /// The failures in a thousand requests.
        var failed = 0
        /// The middle of the durations, in seconds.
        var seconds = 0.1
        /// The requests in a thousand that take ten times as long.
        var slow = 0

        static let none = Traffic(requests: 0)
    }

    private struct Endpoint {
        var service = "storefront"
        var kind = RequestKind.client
        var method = "GET"
        var host = "catalog.internal"
        var path: String
        var before: Traffic
        var after: Traffic
    }

    private static let endpoints: [Endpoint] = [
        Endpoint(
            method: "POST", host: "payments.internal", path: "/payments", before: Traffic(failed: 32),
            after: Traffic(failed: 83, seconds: 0.11, slow: 60)),
        Endpoint(
            service: "payments", kind: .server, method: "POST", host: "payments.internal", path: "/payments",
            before: Traffic(failed: 25), after: Traffic(failed: 71)),
        Endpoint(
            service: "payments", method: "POST", host: "acquirer.example", path: "/charges",
            before: Traffic(failed: 25), after: Traffic(failed: 71, slow: 60)),
        Endpoint(path: "/products/{product}/reviews", before: Traffic(seconds: 0.06), after: Traffic(seconds: 0.04)),
        Endpoint(path: "/products", before: Traffic(failed: 7), after: Traffic(failed: 8)),
        Endpoint(
            path: "/products/{id}", before: Traffic(requests: 4, failed: 18), after: Traffic(requests: 4, failed: 19)),
        Endpoint(
            service: "payments", host: "acquirer.example", path: "/keys", before: .none, after: Traffic(requests: 1)),
        Endpoint(path: "/old", before: Traffic(requests: 2), after: .none),
    ]

    /// - Parameter missing: requests of each service in each interval of the second hour that are captured and do not arrive.
    init(in folder: TemporaryFolder, missing: UInt64 = 0) async throws {
        path = folder.path("collector.sqlite")
        clock.time = Self.window.to
        try await Self.filled(missing: missing).copy(to: path)
        storage = try SQLiteStorage(path: path, now: { [clock] in clock.time })
    }

    private static let filled = Mutex<[UInt64: FilledStore]>([:])

    private static func filled(missing: UInt64) -> FilledStore {
        filled.withLock { stores in
            if let store = stores[missing] { return store }
            let store = FilledStore { path in
                let storage = try SQLiteStorage(path: path, now: { window.to })
                try await fillDayBefore(storage)
                try await fill(storage, missing: missing)
                try storage.close()
            }
            stores[missing] = store
            return store
        }
    }

    /// Stores a point of each endpoint for each minute of the day before ``start``.
    private static func fillDayBefore(_ storage: SQLiteStorage) async throws {
        for service in ["storefront", "payments"] {
            var resource = Samples.resource(service, instance: service + "-1")
            resource.version = "1.8.2"
            for hour in 0..<24 {
                let points = (hour * 60..<hour * 60 + 60).flatMap { pointsOfDayBefore(service, minute: $0) }
                _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
            }
        }
    }

    private static func pointsOfDayBefore(_ service: String, minute: Int) -> [RequestPoint] {
        let end: UInt64 = start - 24 * hour + UInt64(minute + 1) * 60_000_000_000
        let window = TimeWindow(from: end - 60_000_000_000, to: end)
        let intervals = 720 + minute * 6..<726 + minute * 6
        return endpoints.indices.filter { endpoints[$0].service == service }.flatMap { index -> [RequestPoint] in
            let durations = intervals.flatMap { times(endpoints[index].before, index, $0) }
            return points(endpoints[index], durations, window)
        }
    }

    private static func fill(_ storage: SQLiteStorage, missing: UInt64) async throws {
        for service in ["storefront", "payments"] {
            var captured: UInt64 = 0
            for interval in 0..<720 {
                if interval == 360 { captured = 0 }
                let points = points(of: service, interval)
                let count = points.reduce(0) { $0 + $1.statistics.requests }
                captured += count + (interval >= 360 ? missing : 0)
                var resource = Samples.resource(service, instance: service + (interval < 360 ? "-1" : "-2"))
                resource.version = interval < 360 ? "1.8.2" : "1.9.0"
                let ledger = LedgerReading(time: end(of: interval), captured: captured, waiting: count)
                _ = try await storage.store(
                    [InstanceMetrics(resource: resource, points: points, ledger: ledger)], of: nil)
            }
        }
    }

    private static func end(of interval: Int) -> UnixNanoseconds { start + UInt64(interval + 1) * 10_000_000_000 }

    private static func points(of service: String, _ interval: Int) -> [RequestPoint] {
        endpoints.indices.filter { endpoints[$0].service == service }.flatMap { index in
            let endpoint = endpoints[index]
            let traffic = interval < 360 ? endpoint.before : endpoint.after
            let end = end(of: interval)
            return points(
                endpoint, times(traffic, index, interval), TimeWindow(from: end - 10_000_000_000, to: end))
        }
    }

    private typealias Time = (seconds: Double, isFailed: Bool)

    private static func times(_ traffic: Traffic, _ endpoint: Int, _ interval: Int) -> [Time] {
        (0..<traffic.requests).map { request in
            (
                seconds: seconds(traffic, endpoint, interval, request),
                isFailed: isFailed(traffic, endpoint, interval, request)
            )
        }
    }

    private static func points(_ endpoint: Endpoint, _ times: [Time], _ window: TimeWindow) -> [RequestPoint] {
        [false, true].compactMap { isFailed in
            let seconds = times.filter { $0.isFailed == isFailed }.map(\.seconds)
            return seconds.isEmpty ? nil : point(endpoint, seconds, isFailed: isFailed, window)
        }
    }

    private static func point(
        _ endpoint: Endpoint, _ seconds: [Double], isFailed: Bool, _ window: TimeWindow
    ) -> RequestPoint {
        let dimensions = RequestDimensions(
            kind: endpoint.kind, method: endpoint.method, host: endpoint.host, port: 443, endpoint: endpoint.path,
            status: isFailed ? 503 : 200, error: isFailed ? "503" : nil)
        return RequestPoint(
            dimensions: dimensions, start: window.from, end: window.to,
            statistics: Samples.statistics(seconds))
    }

    private static func seconds(_ traffic: Traffic, _ endpoint: Int, _ interval: Int, _ request: Int) -> Double {
        let spread = Double(chance(endpoint, interval, request) % 101) / 101
        let minute = 1 + Double(interval / 6 * 13 % 7 - 3) * 0.01
        let isSlow = chance(endpoint + 40, interval, request) < traffic.slow
        return traffic.seconds * (0.5 + spread) * minute * (isSlow ? 10 : 1)
    }

    private static func isFailed(_ traffic: Traffic, _ endpoint: Int, _ interval: Int, _ request: Int) -> Bool {
        chance(endpoint + 80, interval, request) < traffic.failed
    }

    /// Returns a number from 0 to 999 that is the same in each run.
    private static func chance(_ endpoint: Int, _ interval: Int, _ request: Int) -> Int {
        var state = UInt64(endpoint * 1_000_003 + interval * 1_009 + request)
        state = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        state = (state ^ (state >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((state ^ (state >> 31)) % 1000)
    }
}
