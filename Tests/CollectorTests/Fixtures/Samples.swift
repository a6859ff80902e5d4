import GRDB
import MartletStorage
import MartletTelemetry

@testable import MartletSQLiteStorage

/// Values that tests share. Times are seconds after an arbitrary moment.
enum Samples {
    static func time(_ seconds: UInt64) -> UnixNanoseconds {
        (1_790_000_000 + seconds) * 1_000_000_000
    }

    static func resource(_ service: String = "checkout", instance: String = "i-1") -> TelemetryResource {
        TelemetryResource(
            service: service, version: "1.2", environment: "test", instance: instance, host: "web-1",
            captureMode: "automatic", agent: "martlet 0.1.0")
    }

    static func dimensions(
        _ kind: RequestKind = .client, endpoint: String = "/users/{id}", status: Int? = 200, error: String? = nil
    ) -> RequestDimensions {
        RequestDimensions(
            kind: kind, method: "GET", host: "api.example.com", port: 443, endpoint: endpoint, status: status,
            error: error)
    }

    static func statistics(_ seconds: [Double], sent: UInt64 = 0, received: UInt64 = 0) -> RequestStatistics {
        var statistics = RequestStatistics()
        for value in seconds { statistics.record(seconds: value, bytesSent: 0, bytesReceived: 0) }
        statistics.bytesSent = sent
        statistics.bytesReceived = received
        return statistics
    }

    static func group(_ values: [String?], _ points: [(RequestDimensions, RequestStatistics)]) -> RequestGroup {
        points.reduce(into: RequestGroup(values: values)) { group, point in
            group.add(RequestClass(point.0)) { $0.merge(point.1) }
        }
    }

    /// Returns totals by phase: the requests that had the phase, and their seconds in it.
    static func phases(_ totals: [RequestPhase: (count: UInt64, seconds: Double)]) -> PhaseTotals {
        totals.reduce(into: PhaseTotals()) {
            $0[$1.key] = PhaseTotals.Total(count: $1.value.count, seconds: $1.value.seconds)
        }
    }

    static func point(_ dimensions: RequestDimensions, _ seconds: [Double], end: UInt64 = 10) -> RequestPoint {
        RequestPoint(dimensions: dimensions, start: time(end - 10), end: time(end), statistics: statistics(seconds))
    }

    /// Returns one batch of an instance: `requests` of 100 ms in the interval that ends at `end`.
    static func metrics(
        requests: Int = 1, captured: UInt64 = 1, end: UInt64, resource: TelemetryResource = resource()
    ) -> InstanceMetrics {
        InstanceMetrics(
            resource: resource,
            points: requests > 0 ? [point(dimensions(), Array(repeating: 0.1, count: requests), end: end)] : [],
            ledger: LedgerReading(time: time(end), captured: captured, waiting: UInt64(requests)))
    }

    /// Returns the end of a process by a trap in second 7.
    static func end(of instance: String) -> InstanceEnd {
        var end = InstanceEnd(instance: instance, cause: .signal, time: time(7))
        (end.signal, end.inFlight) = ("SIGILL", 9)
        end.places = [CodePlace(function: "crash()", file: "App/main.swift", line: 41), CodePlace(function: "main")]
        end.requests = [
            InstanceEnd.Requests(kind: .client, name: "GET /prices", count: 5),
            InstanceEnd.Requests(kind: .server, name: "GET /files/{name}", count: 4),
        ]
        return end
    }

    /// Returns a batch that reports ends, without requests.
    static func batch(
        _ ends: [InstanceEnd], from resource: TelemetryResource = resource()
    ) -> MetricsBatch {
        var batch = MetricsBatch(
            resource: resource, start: time(0), end: time(10), series: [:], ledger: Ledger())
        batch.ends = ends
        return batch
    }

    static func detail(_ number: UInt8) -> SpanRecord {
        let (low, request) = (UInt64(number), dimensions(status: 503, error: "503"))
        guard let traceID = TraceID(high: low << 56, low: low), let spanID = SpanID(low) else {
            fatalError("0 is no id")
        }
        var span = SpanRecord(
            traceID: traceID, spanID: spanID, name: SpanRecord.name(of: request), kind: .client, start: time(1),
            durationNanoseconds: 250_000_000)
        span.request = request
        span.url = "https://api.example.com/users/7"
        span.bytesSent = 3
        span.bytesReceived = 5
        span.isError = true
        span.message = "unavailable"
        return span
    }

    /// Returns a detail with a value in every property.
    static func span(_ number: UInt8) -> SpanRecord {
        var span = detail(number)
        let other = detail(number &+ 100)
        span.parentSpanID = other.spanID
        span.traceState = "vendor=1"
        span.name = "ask"
        span.attributes = [
            "text": .string("a \"b\" / é"), "number": .integer(.max), "whole": .double(2), "share": .double(0.1),
            "huge": .double(.infinity), "yes": .boolean(true), "no": .array([]),
            "list": .array([.string("a"), .integer(-1), .double(3), .boolean(false)]),
        ]
        span.events = [
            SpanEvent(name: "first", time: time(1)),
            SpanEvent(name: "second", time: time(2), attributes: ["x": .integer(1)]),
        ]
        span.links = [SpanLink(traceID: other.traceID, spanID: other.spanID, attributes: ["why": .string("because")])]
        (span.droppedAttributes, span.droppedEvents, span.droppedLinks) = (1, 2, 3)
        return span
    }

    /// Returns the account of a window in which the share `arrived` of the requests arrived.
    static func account(_ window: TimeWindow, arrived: Double = 1) -> WindowAccount {
        var account = WindowAccount(window)
        account.add(
            arrived: arrived, captured: 1, time: WindowAccount.Time(lived: window.seconds * 1e9, unwatched: 0))
        return account
    }

    static let everything = TimeWindow(from: time(0) - 1, to: time(100_000))
}

extension Storage {
    /// Returns every sender.
    func agents() async throws -> [AgentRecord] { try await agents(seenSince: 0, limit: .max).agents }
}

extension SQLiteStorage {
    /// Returns the number of rows of a table; a condition may follow its name.
    func rows(_ table: String) async throws -> Int {
        try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }
}

extension StatisticsAnswer {
    /// The statistics of each group over all outcomes.
    var byValues: [[String?]: RequestStatistics] {
        Dictionary(uniqueKeysWithValues: groups.map { ($0.values, $0.statistics) })
    }
}
