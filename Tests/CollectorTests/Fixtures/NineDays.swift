import MartletStorage
import MartletTelemetry

@testable import MartletSQLiteStorage

/// Nine days of a small fleet, up to ``end``: what a store of the version before has, and what it answered.
///
/// `Tests/CollectorTests/Fixtures/Stores` has the file and the answers of 2026-11-29, made with this recipe by the code of that
/// day. They are never written again.
enum NineDays {
    /// The start is a full hour.
    static let start: UInt64 = 3600 - 1_790_000_000 % 3600
    static let hours: UInt64 = 9 * 24
    static let end = start + hours * 3600
    private static let second: UInt64 = 1_000_000_000

    // MARK: The recipe

    static func fill(_ storage: SQLiteStorage, _ clock: Clock) async throws {
        for hour in 0..<hours {
            try await fill(hour, storage, clock)
            clock.time = Samples.time(start + (hour + 1) * 3600)
            if hour % 6 == 5 { try await storage.maintain() }
        }
        try await storage.maintain()
    }

    private static func fill(_ hour: UInt64, _ storage: SQLiteStorage, _ clock: Clock) async throws {
        let isRecent = hour + 3 >= hours
        for step in 0..<(isRecent ? 60 : 4) as Range<UInt64> {
            let end = start + hour * 3600 + (step + 1) * (isRecent ? 60 : 900)
            clock.time = Samples.time(end)
            for instance in ["a", "b"] { _ = try await storage.store(agent(instance, end: end), of: nil) }
            _ = try await storage.store(pod(hour, end: end), of: nil)
            _ = try await storage.store(minute(end), of: nil)
            _ = try await storage.store([spans(step, end: end)], of: nil)
        }
        guard hour == 50 else { return }
        // An hour in one batch, such as after an outage, and the metrics that cover the spans of some hours.
        _ = try await storage.store(merged(end: start + hour * 3600), of: nil)
        _ = try await storage.store(cover(end: start + hour * 3600), of: nil)
    }

    /// An agent that lives for nine days. It loses a request an hour, and its capture was off for the first ten minutes of a day.
    private static func agent(_ instance: String, end: UInt64) -> [InstanceMetrics] {
        let age = end - start
        var metrics = InstanceMetrics(
            resource: Samples.resource(instance: instance),
            points: [
                Samples.point(Samples.dimensions(), [0.1, 0.2 + Double(age % 7) / 8], end: end),
                Samples.point(Samples.dimensions(.server, status: 503, error: "503"), [0.5], end: end),
            ], process: [process(end: end, uptime: age)])
        let off = age / 86_400 * 600 + min(age % 86_400, 600)
        metrics.ledger = LedgerReading(
            time: Samples.time(end), captured: requests(until: age) * 3 + age / 3600, age: age * second,
            unwatched: instance == "a" ? off * second : 0)
        return [metrics]
    }

    /// The number of batches until an age: four an hour, and in the last three hours sixty.
    private static func requests(until age: UInt64) -> UInt64 {
        let recent = (hours - 3) * 3600
        return min(age, recent) / 900 + (age > recent ? (age - recent) / 60 : 0)
    }

    /// A pod that lives for two hours.
    private static func pod(_ hour: UInt64, end: UInt64) -> [InstanceMetrics] {
        let began = start + hour / 2 * 7200
        var resource = Samples.resource("jobs", instance: "pod-\(hour / 2)")
        resource.version = hour < 120 ? "1" : "2"
        var metrics = InstanceMetrics(
            resource: resource, points: [Samples.point(Samples.dimensions(endpoint: "/jobs"), [0.03], end: end)],
            process: [process(end: end, uptime: end - began)])
        metrics.ledger = LedgerReading(
            time: Samples.time(end), captured: requests(until: end - start) - requests(until: began - start),
            age: (end - began) * second)
        return [metrics]
    }

    /// A sender whose intervals are a minute long, and which keeps no ledger.
    private static func minute(_ end: UInt64) -> [InstanceMetrics] {
        let point = RequestPoint(
            dimensions: Samples.dimensions(.server, endpoint: "/prices"), start: Samples.time(end - 60),
            end: Samples.time(end), statistics: Samples.statistics([0.01, 0.02], sent: 10, received: 3))
        return [InstanceMetrics(resource: other("prices", "python-1"), points: [point])]
    }

    private static func other(_ service: String, _ instance: String) -> TelemetryResource {
        TelemetryResource(service: service, environment: "test", instance: instance, agent: "opentelemetry 1.38")
    }

    /// A sender that reports its requests only in spans.
    private static func spans(_ step: UInt64, end: UInt64) -> DetailsBatch {
        var span = Samples.detail(UInt8(step + 1))
        span.traceID = TraceID(high: end, low: step + 1) ?? span.traceID
        span.start = Samples.time(end) - second
        return DetailsBatch(resource: other("search", "go-1"), details: [span])
    }

    private static func merged(end: UInt64) -> [InstanceMetrics] {
        let point = RequestPoint(
            dimensions: Samples.dimensions(endpoint: "/merged"), start: Samples.time(end - 3600 - 600),
            end: Samples.time(end - 600), statistics: Samples.statistics([1, 2, 3]))
        return [InstanceMetrics(resource: Samples.resource(instance: "a"), points: [point])]
    }

    private static func cover(end: UInt64) -> [InstanceMetrics] {
        let point = RequestPoint(
            dimensions: Samples.dimensions(), start: Samples.time(end - 4 * 3600), end: Samples.time(end),
            statistics: Samples.statistics([0.25]))
        return [InstanceMetrics(resource: other("search", "go-1"), points: [point])]
    }

    private static func process(end: UInt64, uptime: UInt64) -> ProcessPoint {
        var statistics = ProcessStatistics()
        statistics.counts = [.cpuUser: 4_000_000_000, .minorFaults: 7]
        statistics.covered = 10 * second
        statistics.add(100 + end % 11, of: .residentMemory)
        statistics.add(uptime * second, of: .uptime)
        return ProcessPoint(start: Samples.time(end - 10), end: Samples.time(end), statistics: statistics)
    }

    // MARK: The answers

    /// The windows, in hours from the start. They begin and end at full hours, or where points of 10 s are kept.
    static let windows: [(String, Double, Double)] = [
        ("all", 0, 216), ("two days", 24, 72), ("hours with covered spans", 40, 60), ("yesterday", 190, 200),
        ("an hour", 55, 56), ("three hours", 213, 216), ("ten minutes", 215.75, 215.9375),
    ]

    /// Returns the answers of a store as text, a line for each group and each service.
    static func answers(_ storage: SQLiteStorage) async throws -> [String] {
        var lines: [String] = []
        for (name, from, to) in windows {
            let window = TimeWindow(from: time(from), to: time(to))
            let query = StatisticsQuery(window: window, by: [.service, .version, .endpoint, .status])
            let answer = try await storage.statistics(query)
            lines.append("\(name): \(account(answer.account)), damaged \(answer.damagedPoints)")
            lines += answer.groups.map(line).sorted()
            lines += answer.account.services.sorted { $0.key < $1.key }.map { "\($0.key): \(account($0.value))" }
            let processes = try await storage.processes(ProcessQuery(window: window, step: 3600 * second))
            lines += processes.services.map(line)
        }
        return lines
    }

    private static func time(_ hours: Double) -> UnixNanoseconds { Samples.time(start + UInt64(hours * 3600)) }

    private static func line(_ group: RequestGroup) -> String {
        let quantiles = group.quantiles([0.5, 0.95, 0.99]).map { $0.map(rounded) ?? "-" }
        let all = group.statistics
        return
            (group.values.map { $0 ?? "-" } + [
                "\(group.count) \(group.failedCount) \(group.fromSpans)", rounded(all.duration.sum),
                rounded(all.duration.max ?? 0), "\(all.bytesSent) \(all.bytesReceived)",
            ] + quantiles).joined(separator: " ")
    }

    private static func account(_ account: WindowAccount) -> String {
        "completeness \(account.completeness.map(rounded) ?? "-"), missing \(account.missing), "
            + "off \(account.unwatchedInstances) of \(account.instances), longest \(rounded(account.longestUnwatched / 1e9))"
    }

    private static func line(_ series: ProcessSeries) -> String {
        let slots = series.slots.compactMap(\.self)
        let cores = slots.reduce(0) { $0 + ($1.cores ?? 0) }
        let memory = slots.reduce(0) { $0 + ($1.levels[.residentMemory] ?? 0) }
        return "processes \(series.service): \(series.processes), started \(series.started), "
            + "\(series.total.counts[.cpuUser] ?? 0) \(series.total.gauges[.residentMemory]?.max ?? 0), "
            + "slots \(slots.count) \(slots.reduce(0) { $0 + $1.processes }) \(rounded(cores)) \(rounded(memory))"
    }

    private static func rounded(_ value: Double) -> String {
        let scaled = (value * 1e5).rounded() / 1e5
        return "\(scaled == 0 ? 0 : scaled)"
    }
}
