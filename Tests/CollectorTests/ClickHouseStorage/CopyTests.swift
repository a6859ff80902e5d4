import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletClickHouseStorage

/// The copy of a file into ClickHouse.
@Suite(.enabled("a ClickHouse is installed") { TestedClickHouse.current != nil })
struct CopyTests {
    private let database: ClickHouseDatabase
    private let folder: TemporaryFolder
    private let clock = Clock()
    private static let hour: UInt64 = 3600
    private static let second: UInt64 = 1_000_000_000

    init() async throws {
        database = try await ClickHouseDatabase(try #require(TestedClickHouse.current))
        folder = try TemporaryFolder()
        clock.time = Samples.time(4 * Self.hour)
    }

    private var path: String { folder.path("collector.sqlite") }

    private func file() throws -> SQLiteStorage { try SQLiteStorage(path: path, now: { [clock] in clock.time }) }

    private func collector() async throws -> ClickHouseStorage {
        try await database.open(now: { [clock] in clock.time })
    }

    private func copy(of contents: SQLiteContents) async throws -> ClickHouseCopy {
        try await ClickHouseCopy(
            of: contents.id, try await contents.fingerprint(), to: database.location, ClickHouseCredentials([:]),
            now: { [clock] in clock.time })
    }

    /// Copies what is left of the file.
    ///
    /// - Parameter parts: parts of each table at most.
    private func copyFile(parts: Int = .max) async throws {
        let contents = try SQLiteContents(of: path)
        let copy = try await copy(of: contents)
        for table in CopiedTable.allCases {
            var (position, left) = (try await copy.position(in: table), parts)
            while left > 0,
                let part = try await contents.part(of: table, after: position, hoursUntil: copy.hoursUntil)
            {
                try await copy.store(part, of: table)
                (position, left) = (part.last, left - 1)
            }
        }
    }

    /// Returns the number of the last row of points that was copied.
    private func pointsCopied() async throws -> Int64 {
        try await copy(of: try SQLiteContents(of: path)).position(in: .points)
    }

    /// Returns a batch of one of 12 processes. Its durations are whole parts of two, so sums are exact in any order.
    private static func batch(_ number: Int, _ random: inout SeededGenerator) -> (BatchID, InstanceMetrics) {
        let (process, sequence) = (number % 12, UInt64(number / 12 + 1))
        let end = sequence * 40
        let resource = Samples.resource("service-\(process % 3)", instance: "i-\(process)")
        let points = (0..<3).map { endpoint in
            let isFailed = Int.random(in: 0..<4, using: &random) == 0
            let seconds = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                Double(Int.random(in: 1...4096, using: &random)) / 1024
            }
            var point = Samples.point(
                Samples.dimensions(
                    process % 2 == 0 ? .client : .server, endpoint: "/\(endpoint)", status: isFailed ? 503 : 200,
                    error: isFailed ? "503" : nil), seconds, end: end)
            point.statistics.phases = Samples.phases([.dns: (2, 0.25), .transfer: (3, 0.5)])
            point.statistics.bytesSent = UInt64(number)
            return point
        }
        var statistics = ProcessStatistics()
        statistics.counts = [.cpuUser: sequence * 1_000_000]
        statistics.covered = 10_000_000_000
        statistics.add(100 + sequence, of: .residentMemory)
        let figures = ProcessPoint(start: Samples.time(end - 10), end: Samples.time(end), statistics: statistics)
        let ledger = LedgerReading(
            time: Samples.time(end), captured: 40 * sequence, waiting: 3, dropped: sequence == 7 ? ["full": 2] : [:],
            age: 40_000_000_000 * sequence)
        return (
            BatchID(instance: resource.instance, sequence: sequence, signal: .metrics),
            InstanceMetrics(resource: resource, points: points, ledger: ledger, process: [figures])
        )
    }

    /// Fills the file with three hours of batches, of which some never arrived, and with spans and cumulative metrics.
    private func fill(_ file: SQLiteStorage) async throws -> [(BatchID, InstanceMetrics)] {
        var random = SeededGenerator(seed: 21)
        let batches = (0..<12 * 270).map { Self.batch($0, &random) }.enumerated().filter { $0.offset % 97 != 5 }
            .map(\.element)
        for (id, metrics) in batches { _ = try await file.store([metrics], of: id) }
        let part = BatchID(instance: "i-1", sequence: 300, first: 298, part: "0", signal: .metrics)
        _ = try await file.store([Samples.metrics(end: 3 * Self.hour, resource: batches[1].1.resource)], of: part)
        for number in 1...90 as ClosedRange<UInt8> {
            clock.time += 1_000_000
            let details = DetailsBatch(
                resource: Samples.resource("service-\(number % 3)", instance: "i-\(number % 3)"),
                details: [Samples.span(number)])
            _ = try await file.store(
                [details], of: BatchID(instance: "i-9", sequence: UInt64(number), signal: .traces))
        }
        return batches
    }

    /// Rolls the file up and deletes its finest points, as time does.
    private func age(_ file: SQLiteStorage, hours: UInt64) async throws {
        for _ in 0..<hours {
            clock.time += Self.hour * Self.second
            try await file.maintain()
        }
    }

    /// Samples.time(2_800) is a whole hour.
    private static func window(_ from: UInt64, _ to: UInt64) -> TimeWindow {
        TimeWindow(from: Samples.time(2_800 + from * hour) - second * hour, to: Samples.time(2_800 + to * hour))
    }

    /// Returns the answer without the ends of the last intervals, which are not equally fine in the two stores.
    private static func withoutEnds(_ answer: StatisticsAnswer) -> StatisticsAnswer {
        var answer = answer
        for index in answer.groups.indices { answer.groups[index].ends = nil }
        for kind in answer.totals.keys { answer.totals[kind]?.ends = nil }
        return answer
    }

    private func expectSameAnswers(_ file: SQLiteStorage, _ other: ClickHouseStorage) async throws {
        for query in [
            StatisticsQuery(window: Self.window(0, 4), by: Dimension.allCases),
            StatisticsQuery(window: Self.window(1, 2), by: [.service, .kind], order: GroupOrder(.p95), limit: 3),
            StatisticsQuery(window: Self.window(0, 3), by: [.endpoint], step: Self.hour * Self.second),
        ] {
            let answers = (try await file.statistics(query), try await other.statistics(query))
            let (one, another) = (Self.withoutEnds(answers.0), Self.withoutEnds(answers.1))
            let differences = zip(one.groups, another.groups).filter(!=)
            #expect(differences.isEmpty && one.groups.count == another.groups.count)
            #expect(one.totals == another.totals && one.account == another.account && one.window == another.window)
            #expect(one.totals.values.contains { $0.count > 100 })
        }
        let agents = try await (file.agents(), other.agents())
        #expect(agents.0.count == agents.1.count)
        for agent in agents.0 {
            // The file forgets the figures of a process's last minute earlier.
            var one = agent
            var another = try #require(agents.1.first { $0.resource == agent.resource })
            (one.process, another.process) = (nil, nil)
            #expect(one == another)
        }
        for dimension in [Dimension.service, .endpoint, .instance] {
            let query = ValuesQuery(dimension, window: Self.window(0, 4), limit: 100)
            #expect(try await file.values(query) == other.values(query))
        }
        let processes = ProcessQuery(window: Self.window(0, 4), step: Self.hour * Self.second)
        let series = try await (file.processes(processes).services, other.processes(processes).services)
        #expect(series.0.map(\.total) == series.1.map(\.total))
        for (one, another) in zip(series.0, series.1) {
            #expect(one.slots.map { $0?.samples } == another.slots.map { $0?.samples })
        }
    }

    @Test(arguments: [1, 8, 200] as [UInt64])
    func everyAnswerIsThatOfTheFile(hoursLater: UInt64) async throws {
        let file = try file()
        let batches = try await fill(file)
        try await age(file, hours: hoursLater)
        try file.close()
        try await copyFile()
        let (reopened, other) = (try self.file(), try await collector())
        try await expectSameAnswers(reopened, other)
        let listed = RequestsQuery(window: Samples.everything, limit: 100)
        let kept = try await (reopened.requests(listed), other.requests(listed))
        #expect(kept.0.requests.map(\.span) == kept.1.requests.map(\.span))
        #expect(kept.0.requests.map(\.resource) == kept.1.requests.map(\.resource))
        // Each batch is known, and the one of which a half arrived is not.
        for (id, metrics) in batches.suffix(50) { #expect(try await other.store([metrics], of: id) == .duplicate) }
        let half = BatchID(instance: "i-1", sequence: 300, first: 298, part: "1", signal: .metrics)
        #expect(try await other.store([Samples.metrics(end: 3 * Self.hour)], of: half) == .stored)
    }

    @Test func aCopyThatWasInterruptedGoesOnAndNothingCountsTwice() async throws {
        let file = try file()
        _ = try await fill(file)
        try await age(file, hours: 2)
        try file.close()
        try await copyFile(parts: 1)
        let begun = try await pointsCopied()
        #expect(begun > 0)
        try await copyFile()
        #expect(try await pointsCopied() > begun)
        // A process that was killed before it took note of its last parts copies them again: here all of them.
        let other = try await collector()
        try await other.client.run("TRUNCATE TABLE \(other.client.layout.everywhere(Schema.copied))")
        #expect(try await pointsCopied() == 0)
        try await copyFile()
        try await expectSameAnswers(try self.file(), other)
    }

    @Test func figuresOfHoursThatTheStoreHasRolledUpAreAddedToThem() async throws {
        let file = try file()
        _ = try await fill(file)
        try await age(file, hours: 2)
        try file.close()
        let other = try await collector()
        // A series that the file has in the same hour, too.
        let point = Samples.point(Samples.dimensions(endpoint: "/0"), [0.5, 0.5, 0.5], end: 40)
        let sample = InstanceMetrics(resource: Samples.resource("service-0", instance: "i-0"), points: [point])
        _ = try await other.store([sample], of: BatchID(instance: "other", sequence: 1, signal: .metrics))
        clock.time += 40 * 24 * Self.hour * Self.second
        for _ in 0..<2 { try await other.maintain() }
        #expect(try await other.client.rolledHours() > 0)
        try await copyFile()
        for _ in 0..<2 { try await other.maintain() }
        let query = StatisticsQuery(window: Self.window(0, 4), by: [.kind])
        let (one, another) = (try await self.file().statistics(query), try await other.statistics(query))
        #expect(another.totals[.client]?.count == (one.totals[.client]?.count ?? 0) + 3)
        #expect(another.totals[.server]?.count == one.totals[.server]?.count)
        let processes = ProcessQuery(window: Self.window(0, 4), step: Self.hour * Self.second)
        let totals = try await (self.file().processes(processes), other.processes(processes))
        #expect(totals.0.services.map(\.total) == totals.1.services.map(\.total))
    }

    @Test func aCumulativeStreamGoesOnInTheStoreThatTookTheCopy() async throws {
        let file = try file()
        func send(_ count: Int, end: UInt64, to storage: any Storage) async throws {
            clock.time += 1_000_000
            let point = OtherMetrics.point(Array(repeating: 0.25, count: count), end: end)
            try await OtherMetrics.send([OtherMetrics.histogram([point])], instance: "a", to: storage)
        }
        try await send(2, end: 10, to: file)
        try await send(5, end: 20, to: file)
        try file.close()
        try await copyFile()
        let other = try await collector()
        try await send(9, end: 30, to: other)
        try await other.maintain()
        let answer = try await other.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map(\.count) == [9])
    }

    @Test(arguments: [1, 8, 200] as [UInt64])
    func spansCountInATimeWithoutMetrics(hoursLater: UInt64) async throws {
        let file = try file()
        let resource = TelemetryResource(service: "prices", instance: "p-1", agent: "opentelemetry 1.38")
        let point = Samples.point(Samples.dimensions(.server), [0.25, 0.25], end: 10)
        _ = try await file.store([InstanceMetrics(resource: resource, points: [point])], of: nil)
        for (number, time) in [(1, 5), (2, 6), (3, 2 * Self.hour), (4, 2 * Self.hour + 1)] as [(UInt8, UInt64)] {
            var span = Samples.detail(number)
            span.request?.kind = .server
            span.start = Samples.time(time)
            _ = try await file.store([DetailsBatch(resource: resource, details: [span])], of: nil)
        }
        try await age(file, hours: hoursLater)
        try file.close()
        try await copyFile()
        let query = StatisticsQuery(window: Self.window(0, 4), by: [.service, .kind, .error])
        let answers = (try await self.file().statistics(query), try await collector().statistics(query))
        #expect(Self.withoutEnds(answers.0).groups == Self.withoutEnds(answers.1).groups)
        #expect(answers.1.totals[.server]?.count == 4)
        #expect(answers.1.totals[.server]?.fromSpans == 2)
    }

    @Test func metricsOfHalfAnHourCoverNoSpansBesideThem() async throws {
        let file = try file()
        let resource = TelemetryResource(service: "prices", instance: "p-1", agent: "opentelemetry 1.38")
        func send(spanAt time: UInt64, _ number: UInt8) async throws {
            var span = Samples.detail(number)
            span.request?.kind = .server
            span.start = Samples.time(time)
            _ = try await file.store([DetailsBatch(resource: resource, details: [span])], of: nil)
        }
        // The hour from 2,800 s on: spans, then metrics, which cover an hour beyond their end, then spans.
        try await send(spanAt: 3_000, 1)
        for end in stride(from: 4_000 as UInt64, through: 4_600, by: 60) {
            let point = Samples.point(Samples.dimensions(.server), [0.25], end: end)
            _ = try await file.store([InstanceMetrics(resource: resource, points: [point])], of: nil)
        }
        try await send(spanAt: 4_500, 2)
        try await send(spanAt: 4_600 + Self.hour + 700, 3)
        try await age(file, hours: 200)
        try file.close()
        try await copyFile()
        let query = StatisticsQuery(window: Self.window(0, 4), by: [.service, .kind, .error])
        let answers = (try await self.file().statistics(query), try await collector().statistics(query))
        #expect(Self.withoutEnds(answers.0).groups == Self.withoutEnds(answers.1).groups)
        #expect(answers.1.totals[.server]?.fromSpans == 2)
    }

    @Test func aFileThatWasUsedSinceItsCopyBeganIsRefused() async throws {
        let file = try file()
        _ = try await fill(file)
        try file.close()
        try await copyFile(parts: 1)
        let again = try self.file()
        _ = try await again.store([Samples.metrics(end: 3 * Self.hour)], of: nil)
        try again.close()
        let failure = await #expect(throws: StorageFailure.self) { try await copyFile() }
        #expect(failure?.description == "the file was used since its copy began; copy it into a new database")
    }

    @Test func aCopyEndsWhereCollectorsMadeHoursSinceItBegan() async throws {
        let file = try file()
        _ = try await fill(file)
        try file.close()
        try await copyFile(parts: 1)
        clock.time += 8 * 24 * Self.hour * Self.second
        try await collector().maintain()
        let failure = await #expect(throws: StorageFailure.self) { try await copyFile() }
        #expect(failure?.description.contains("collectors have made hours in ClickHouse since the copy began") == true)
    }

    @Test func aFileThatACollectorUsesIsRefused() async throws {
        let file = try file()
        let failure = #expect(throws: StorageFailure.self) { _ = try SQLiteContents(of: path) }
        #expect(failure?.description.contains("in use by another collector") == true)
        try file.close()
    }

    @Test func callsBetweenServicesAreCopied() async throws {
        let file = try file()
        try await CallSpans.call(1, at: 10, in: file)
        try await CallSpans.call(2, at: 3 * Self.hour, in: file)
        _ = try await file.removeDetails()
        try file.close()
        try await copyFile()
        let other = try await collector()
        #expect(try await other.calls() == [CallSpans.observed])
        let before = TimeWindow(
            from: Samples.time(0) - 48 * Self.hour * Self.second, to: Samples.time(0) - 24 * Self.hour * Self.second)
        #expect(try await other.calls(in: before) == [])
    }
}
