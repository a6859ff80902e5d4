import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct SeriesBudgetTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        var limits = SQLiteLimits()
        limits.maxSeriesPerService = 10
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits)
    }

    private func counts(by: [Dimension]) async throws -> [[String?]: UInt64] {
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: by))
        return answer.groups.reduce(into: [:]) { $0[$1.values, default: 0] += $1.count }
    }

    @Test func endpointsPastTheLimitCountToTheOtherEndpointOfTheirHost() async throws {
        for number in 0..<30 {
            let point = Samples.point(Samples.dimensions(endpoint: "/\(number)"), [0.1])
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: [point])], of: nil)
        }
        let found = try await counts(by: [.host, .endpoint])
        #expect(found.count == 11)
        #expect(found[["api.example.com:443", "{other}"]] == 20)
        #expect(found[["api.example.com:443", "/9"]] == 1)
        // Another service has separate series.
        let point = Samples.point(Samples.dimensions(endpoint: "/cart"), [0.1])
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource("cart"), points: [point])], of: nil)
        #expect(try await counts(by: [.service, .endpoint])[["cart", "/cart"]] == 1)
    }

    @Test func endlessHostsAndErrorsAreAlsoBoundedAndKeepTheirOutcome() async throws {
        for number in 0..<100 {
            var dimensions = Samples.dimensions(endpoint: "/", status: nil, error: "error \(number)")
            dimensions.host = "host-\(number)"
            _ = try await storage.store(
                [InstanceMetrics(resource: Samples.resource(), points: [Samples.point(dimensions, [0.1])])], of: nil)
        }
        let found = try await counts(by: [.host, .endpoint, .error])
        #expect(found.count == 21)
        #expect(found[["{other}", "{other}", "_OTHER"]] == 80)
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map { $0.outcomes[.transportFailure] } == [100])
    }

    @Test func spansPastTheLimitAreCoveredByTheMetricsOfTheirSystem() async throws {
        let resource = TelemetryResource(service: "shop", instance: "s-1", agent: "opentelemetry 1.38")
        var dimensions = Samples.dimensions(endpoint: "SELECT", status: nil)
        dimensions.system = "postgresql"
        let point = Samples.point(dimensions, [0.1])
        _ = try await storage.store([InstanceMetrics(resource: resource, points: [point])], of: nil)
        let spans = (1...40).map { number in
            var span = Samples.detail(UInt8(number))
            (dimensions.host, dimensions.endpoint) = ("db-\(number)", "SELECT \(number)")
            span.request = dimensions
            return span
        }
        _ = try await storage.store([DetailsBatch(resource: resource, details: spans)], of: nil)
        #expect(try await counts(by: [.system]) == [["postgresql"]: 1])
    }

    @Test func floodOfNamesGivesUpItsRoomADayAfterItEnds() async throws {
        let clock = Clock()
        var limits = SQLiteLimits()
        limits.maxSeriesPerService = 10
        let storage = try SQLiteStorage(path: folder.path("flood.sqlite"), limits: limits, now: { clock.time })
        func endpoints(_ names: [String], day: UInt64) async throws -> Set<String?> {
            clock.time = Samples.time(day * 86_400)
            for name in names {
                let point = Samples.point(Samples.dimensions(endpoint: name), [0.1], end: day * 86_400)
                _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: [point])], of: nil)
            }
            let window = TimeWindow(from: clock.time - 10_000_000_000, to: clock.time)
            let answer = try await storage.statistics(StatisticsQuery(window: window, by: [.endpoint]))
            return Set(answer.groups.map { $0.values[0] })
        }
        #expect(try await endpoints((0..<20).map { "/\($0)" }, day: 1).contains("{other}"))
        #expect(try await endpoints(["/1", "/cart"], day: 2) == ["/1", "{other}"])
        #expect(try await endpoints(["/1", "/cart"], day: 4) == ["/1", "/cart"])
    }

    @Test func processesOfAServiceShareItsSeries() async throws {
        for instance in 0..<30 {
            let points = (0..<10).map { Samples.point(Samples.dimensions(endpoint: "/\($0)"), [0.1]) }
            let resource = Samples.resource(instance: "i-\(instance)")
            _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
        }
        #expect(try await counts(by: [.endpoint]).count == 10)
        #expect(try await counts(by: [.instance, .endpoint]).values.allSatisfy { $0 == 1 })
    }
}
