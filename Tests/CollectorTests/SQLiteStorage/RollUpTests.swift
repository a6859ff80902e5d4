import Fixtures
import GRDB
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// Compares windows of a store that rolls up and deletes with a list of all stored points.
@Suite struct RollUpTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        var limits = SQLiteLimits()
        limits.retention.fine = 1800 * second
        limits.retention.minutes = 5 * hour
        limits.retention.hours = 20 * hour
        // The tests set the clock hours ahead.
        limits.clockPatience = .max
        storage = try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    private func count(_ from: UInt64, _ to: UInt64, in other: SQLiteStorage? = nil) async throws -> UInt64 {
        let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
        let answer = try await (other ?? storage).statistics(StatisticsQuery(window: window, by: []))
        return answer.groups.reduce(0) { $0 + $1.count }
    }

    @Test func completedMinutesAndHoursBecomeOnePointPerSeries() async throws {
        try self.storage.close()
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { [clock] in clock.time })
        for end in stride(from: UInt64(10), through: 7200, by: 10) {
            _ = try await storage.store([Samples.metrics(end: end)], of: nil)
        }
        clock.time = Samples.time(7200 + 600)
        try await storage.maintain()
        // The samples' time begins 13 minutes and 20 seconds after a full hour.
        #expect(try await storage.rows("version_chunk WHERE tier = 1") == 121)
        #expect(try await storage.rows("version_chunk WHERE tier = 2") == 2)
        #expect(try await storage.rows("chunk WHERE rolled = 0 AND tier = 0") == 0)
        for (from, to) in [(UInt64(0), UInt64(7200)), (10, 7200), (0, 7190), (1200, 4800), (3605, 3700), (70, 75)] {
            #expect(try await count(from, to, in: storage) == to / 10 - from / 10, "\(from) to \(to)")
        }
    }

    /// The beginning of the requests is less exact in points of minutes or hours.
    @Test func beginningOfTheDataIsAsExactAsTheFinestPoints() async throws {
        _ = try await storage.store([Samples.metrics(end: 30)], of: nil)
        _ = try await storage.store([Samples.metrics(end: 4000)], of: nil)
        let window = TimeWindow(from: Samples.time(0) - hour, to: Samples.time(8000))
        // The samples' time begins 20 s after a full minute, and 800 s after a full hour.
        for (age, start) in [(1000, 20), (9000, -20), (30_000, -800)] as [(UInt64, Int)] {
            clock.time = Samples.time(age)
            try await storage.maintain()
            let since = try await storage.statistics(StatisticsQuery(window: window, by: [])).dataSince
            #expect(since.map { Int($0) - Int(Samples.time(0)) } == start * 1_000_000_000, "\(age) s")
        }
    }

    @Test func rollUpDoesNotChangeSlots() async throws {
        try self.storage.close()
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { [clock] in clock.time })
        for end in stride(from: UInt64(10), through: 7200, by: 10) {
            _ = try await storage.store([Samples.metrics(requests: Int(end / 10 % 7) + 1, end: end)], of: nil)
        }
        func slots(_ step: UInt64) async throws -> [UInt64] {
            let window = TimeWindow(from: Samples.time(15), to: Samples.time(7185))
            let answer = try await storage.statistics(StatisticsQuery(window: window, by: [], step: step * second))
            let slots = try #require(answer.slots)
            #expect(slots.grid.step == step * second)
            return slots.groups.flatMap { $0.map(\.count) }
        }
        let steps: [UInt64] = [10, 30, 60, 90, 300, 3600]
        var before: [[UInt64]] = []
        for step in steps { before.append(try await slots(step)) }
        clock.time = Samples.time(7200 + 600)
        try await storage.maintain()
        for (index, step) in steps.enumerated() { #expect(try await slots(step) == before[index], "\(step) s") }
    }

    @Test func latePointsJoinTheHour() async throws {
        clock.time = Samples.time(7200)
        for _ in 0..<3 {
            _ = try await storage.store([Samples.metrics(requests: 2, end: 10)], of: nil)
            try await storage.maintain()
        }
        #expect(try await storage.rows("version_chunk WHERE tier = 1 AND rolled = 1") == 3)
        #expect(try await storage.rows("version_chunk WHERE tier = 2") == 1)
        #expect(try await count(0, 7200) == 6)
    }

    @Test func damagedPointIsReportedAfterItsRollUpAndTheDeletionOfItsSource() async throws {
        _ = try await storage.store([Samples.metrics(requests: 2, end: 10)], of: nil)
        _ = try await storage.store([Samples.metrics(requests: 1, end: 20)], of: nil)
        try await DatabaseQueue(path: folder.path("collector.sqlite")).write {
            try $0.execute(sql: "UPDATE chunk SET points = x'00' WHERE id = 1")
        }
        clock.time = Samples.time(6 * 3600)
        try await storage.maintain()
        #expect(try await storage.rows("chunk") == 0)
        #expect(try await storage.rows("version_chunk WHERE tier < 2") == 0)
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.damagedPoints == 1)
        #expect(answer.groups.map(\.count) == [1])
    }

    /// Rolls up the hour in which metrics begin, in several passes or in one pass at the end.
    @Test(arguments: [[30, 60, 240], [240]] as [[UInt64]])
    func spansBeforeTheFirstMetricsCountAfterEveryRollUp(passes: [UInt64]) async throws {
        let resource = TelemetryResource(service: "prices", instance: "", agent: "opentelemetry 1.38")
        var expected: UInt64 = 0
        for minute in 0..<90 as Range<UInt64> {
            // The samples' time begins 13 minutes and 20 seconds after a full hour.
            for second in [5, 25, 45] as [UInt64] {
                var span = Samples.detail(UInt8(minute + 1))
                span.traceID = try #require(TraceID(high: minute + 1, low: second))
                span.start = Samples.time(minute * 60 + second)
                span.durationNanoseconds = 250_000_000
                _ = try await storage.store([DetailsBatch(resource: resource, details: [span])], of: nil)
            }
            expected += minute < 20 ? 3 : minute == 20 ? 1 : 0
            if minute > 20 {
                // The process with metrics began in minute 20.
                let start = minute == 21 ? 20 * 60 + 10 : minute * 60
                let point = RequestPoint(
                    dimensions: Samples.dimensions(), start: Samples.time(start), end: Samples.time(minute * 60 + 60),
                    statistics: Samples.statistics([0.25, 0.25, 0.25]))
                _ = try await storage.store([InstanceMetrics(resource: resource, points: [point])], of: nil)
                expected += 3
            }
            if passes.contains(minute + 1) {
                clock.time = Samples.time(minute * 60 + 60)
                try await storage.maintain()
            }
        }
        #expect(try await count(0, 90 * 60) == expected)
        clock.time = Samples.time(4 * 3600)
        try await storage.maintain()
        #expect(try await storage.rows("chunk WHERE rolled = 0 AND tier < 2") == 0)
        #expect(try await count(0, 2 * 3600) == expected)
        clock.time = Samples.time(7 * 3600)
        try await storage.maintain()
        #expect(try await storage.rows("chunk WHERE tier < 2") == 0)
        #expect(try await count(0, 2 * 3600) == expected)
    }

    /// Rolls up the hour in which metrics begin to report calls without an answer, in several passes or in one pass at the end.
    @Test(arguments: [[30, 60, 240], [240]] as [[UInt64]])
    func failuresInSpansAloneCountAfterEveryRollUp(passes: [UInt64]) async throws {
        let resource = TelemetryResource(service: "prices", instance: "", agent: "opentelemetry 1.38")
        let unanswered = Samples.dimensions(status: nil, error: "timeout")
        for minute in 0..<90 as Range<UInt64> {
            var span = Samples.detail(UInt8(minute + 1))
            span.start = Samples.time(minute * 60 + 5)
            span.request = unanswered
            _ = try await storage.store([DetailsBatch(resource: resource, details: [span])], of: nil)
            let statistics = [(Samples.dimensions(), 3)] + (minute < 20 ? [] : [(unanswered, 1)])
            let points = statistics.map { dimensions, count in
                RequestPoint(
                    dimensions: dimensions, start: Samples.time(minute * 60), end: Samples.time(minute * 60 + 60),
                    statistics: Samples.statistics(Array(repeating: 0.25, count: count)))
            }
            _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
            if passes.contains(minute + 1) {
                clock.time = Samples.time(minute * 60 + 60)
                try await storage.maintain()
            }
        }
        for hours in [1.5, 4, 7] {
            clock.time = Samples.time(UInt64(hours * 3600))
            if hours > 2 { try await storage.maintain() }
            #expect(try await count(0, 2 * 3600) == 90 * 4, "\(hours) hours")
        }
        #expect(try await storage.rows("chunk WHERE tier < 2") == 0)
    }

    @Test func nothingRemainsAfterTheRetention() async throws {
        _ = try await storage.store([Samples.metrics(end: 10)], of: nil)
        clock.time = Samples.time(2 * 24 * 3600)
        try await storage.maintain()
        for table in ["chunk", "version_chunk", "version_hour", "version_gap", "version"] {
            #expect(try await storage.rows(table) == 0, "\(table)")
        }
        #expect(try await storage.agents().isEmpty)
        #expect(try await storage.rows("series") == 0)
        #expect(try await storage.rows("ledger") == 0)
        // The store still accepts points afterwards.
        _ = try await storage.store([Samples.metrics(requests: 3, end: 2 * 24 * 3600)], of: nil)
        #expect(try await count(0, 2 * 24 * 3600) == 3)
    }

    @Test func oneLedgerReadingPerHourIsKeptAndGivesTheSameCompleteness() async throws {
        var captured: UInt64 = 0
        // Every third batch is lost.
        for end in stride(from: UInt64(10), through: 7200, by: 10) {
            captured += 1
            guard end % 30 != 0 else { continue }
            _ = try await storage.store([Samples.metrics(captured: captured, end: end)], of: nil)
        }
        // The windows are full hours and parts of hours. The samples' time begins 13 minutes and 20 seconds after a full hour.
        let windows = [(0, 7200), (0, 1800), (600, 1200), (2820, 4620), (4800, 6000)] as [(UInt64, UInt64)]
        func completeness() async throws -> [Double] {
            var shares: [Double] = []
            for (from, to) in windows {
                let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
                let answer = try await storage.statistics(StatisticsQuery(window: window, by: []))
                shares.append(try #require(answer.account.completeness))
            }
            return shares
        }
        let before = try await (completeness(), storage.agents().map(\.ledger))
        #expect(before.0.allSatisfy { abs($0 - 2.0 / 3) < 0.01 })
        clock.time = Samples.time(4 * 3600)
        try await storage.maintain()
        let after = try await completeness()
        #expect(after[0] == before.0[0])
        #expect(after.allSatisfy { abs($0 - 2.0 / 3) < 0.01 }, "\(after)")
        #expect(try await storage.agents().map(\.ledger) == before.1)
        #expect(try await storage.rows("ledger") == 3)
    }

    @Test func reportCoversTheWholeRemainingSlots() async throws {
        let points = stride(from: UInt64(10), through: 4 * 3600, by: 10).map {
            Samples.point(Samples.dimensions(), [0.1], end: $0)
        }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
        // It is 22:13:20. Before 17:00 only hours remain, and before 21:43 only minutes.
        clock.time = Samples.time(8 * 3600)
        try await storage.maintain()
        for (asked, told, count) in [
            ("15:30:00 16:00:00", "15:00:00 16:00:00", 360), ("15:00:00 15:30:00", "15:00:00 16:00:00", 360),
            ("15:59:59 16:00:01", "15:00:00 17:00:00", 720), ("17:30:20 17:30:40", "17:30:00 17:31:00", 6),
            ("16:30:00 17:30:30", "16:00:00 17:31:00", 546), ("17:00:00 17:10:00", "17:00:00 17:10:00", 60),
        ] as [(String, String, UInt64)] {
            let times = { (text: String) in text.split(separator: " ").map { "2026-09-21T\($0)Z" } }
            let window = times(asked)
            let query = try ReportParameters([("since", window[0]), ("until", window[1])]).query(now: clock.time)
            let report = Report(try await storage.statistics(query), for: query)
            #expect([report.from, report.to] == times(told))
            #expect(report.totals.measures.count == count)
            #expect(abs(report.totals.measures.perSecond - 0.1) < 1e-9)
        }
        let tail = try ReportParameters([("since", "2026-09-21T21:42:50Z")]).query(now: clock.time)
        let report = Report(try await storage.statistics(tail), for: tail)
        #expect([report.from, report.to] == ["2026-09-21T21:42:00Z", "2026-09-21T22:13:20Z"])
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func everyWindowHasThePointsStoredInIt(seed: UInt64) async throws {
        var numbers = SeededGenerator(seed: seed)
        var model = StoredPoints(retention: (1800 * second, 5 * hour, 20 * hour))
        var now = UInt64(0)
        for step in 0..<120 {
            now += UInt64.random(in: 0...900, using: &numbers)
            clock.time = Samples.time(now)
            for _ in 0..<Int.random(in: 0...4, using: &numbers) {
                let points = randomPoints(endingBefore: now, &numbers)
                let resource = Samples.resource(instance: "i-\(Int.random(in: 1...2, using: &numbers))")
                _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
                model.add(points)
            }
            if numbers.next() % 3 == 0 {
                try await storage.maintain()
                model.maintain(at: clock.time)
            }
            let window = randomWindow(until: now, &numbers)
            let answer = try await storage.statistics(StatisticsQuery(window: window, by: [.endpoint]))
            #expect(answer.damagedPoints == 0)
            #expect(answer.window == model.whole(window))
            let found = Dictionary(uniqueKeysWithValues: answer.groups.map { ($0.values[0] ?? "", $0.statistics) })
            #expect(found == model.statistics(in: answer.window), "seed \(seed), step \(step), \(window)")
        }
    }

    private func randomPoints(endingBefore now: UInt64, _ numbers: inout SeededGenerator) -> [RequestPoint] {
        let isLate = numbers.next() % 4 == 0
        let end = Samples.time(now) - UInt64.random(in: 0...(isLate ? 8 * 3600 : 60), using: &numbers) * second
        return (0..<Int.random(in: 1...5, using: &numbers)).map { _ in
            let length = [10 * second, 59 * second, 60 * second, 600 * second, hour][Int(numbers.next() % 5)]
            let seconds = (0..<3).map { _ in Double(UInt64.random(in: 1...4096, using: &numbers)) / 1024 }
            return RequestPoint(
                dimensions: Samples.dimensions(endpoint: "/\(numbers.next() % 4)"), start: end - length,
                end: numbers.next() % 5 == 0 ? end + second : end,
                statistics: Samples.statistics(seconds, sent: numbers.next() % 100, received: 1))
        }
    }

    private func randomWindow(until now: UInt64, _ numbers: inout SeededGenerator) -> TimeWindow {
        let unit = [1, 60 * second, hour][Int(numbers.next() % 3)]
        let end = Samples.time(now) + 60 * second
        let from = end - UInt64.random(in: 0...30 * 3600, using: &numbers) * second
        let to = UInt64.random(in: from...end, using: &numbers)
        return TimeWindow(from: from / unit * unit, to: numbers.next() % 3 == 0 ? end : to / unit * unit)
    }
}

private let second: UInt64 = 1_000_000_000
private let minute = 60 * second
private let hour = 3600 * second

/// A model of the store: all stored points, each with the end by which a window finds it.
private struct StoredPoints {
    private struct Stored {
        let point: RequestPoint
        let length: UInt64
        var isInMinutes = false
        var isInHours = false

        /// The end of the point after its roll-up into a minute.
        var endOfMinute: UInt64 { length < hour ? up(point.end, minute) : point.end }
        var endOfHour: UInt64 { up(endOfMinute, hour) }
    }

    let retention: (fine: UInt64, minutes: UInt64, hours: UInt64)
    private var points: [Stored] = []
    private var expired: (fine: UInt64, minutes: UInt64) = (0, 0)

    init(retention: (UInt64, UInt64, UInt64)) {
        self.retention = retention
    }

    mutating func add(_ more: [RequestPoint]) {
        points += more.map { point in
            let length = point.end - point.start
            return Stored(point: point, length: length, isInMinutes: length >= hour)
        }
    }

    mutating func maintain(at now: UInt64) {
        for index in points.indices {
            if up(points[index].point.end, minute) + 60 * second <= now { points[index].isInMinutes = true }
            if points[index].isInMinutes, up(points[index].endOfMinute, hour) + 300 * second <= now {
                points[index].isInHours = true
            }
        }
        expired.fine = max(expired.fine, (now - retention.fine) / minute * minute)
        expired.minutes = max(expired.minutes, (now - retention.minutes) / hour * hour)
        // Hours go by whole days.
        points.removeAll { $0.isInHours && up($0.endOfHour, 24 * hour) <= now - retention.hours }
    }

    /// Returns the window, widened to full minutes or hours where nothing finer remains.
    func whole(_ window: TimeWindow) -> TimeWindow {
        let unit = { (time: UInt64) in
            time < self.expired.minutes ? hour : time < self.expired.fine ? minute : 1
        }
        let from = window.from / unit(window.from) * unit(window.from)
        return TimeWindow(from: from, to: up(window.to, unit(window.to)))
    }

    func statistics(in window: TimeWindow) -> [String: RequestStatistics] {
        var result: [String: RequestStatistics] = [:]
        for stored in points where window.from < end(of: stored) && end(of: stored) <= window.to {
            result[stored.point.dimensions.endpoint, default: RequestStatistics()].merge(stored.point.statistics)
        }
        return result
    }

    private func end(of stored: Stored) -> UInt64 {
        let isFine = stored.length < hour
        if isFine, !stored.isInMinutes || stored.point.end > expired.fine { return stored.point.end }
        if !stored.isInHours || stored.endOfMinute > expired.minutes { return stored.endOfMinute }
        return stored.endOfHour
    }
}

/// Returns the end of the slot of this length that contains a time. A slot includes its end.
private func up(_ time: UInt64, _ length: UInt64) -> UInt64 { (time + length - 1) / length * length }
