import Fixtures
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Synchronization
import Testing

@testable import MartletClickHouseStorage

/// The store shared by several collectors. ``StorageContractTests`` runs on it with `MARTLET_TEST_STORE=clickhouse`.
@Suite(.enabled("a ClickHouse is installed") { TestedClickHouse.current != nil })
struct ClickHouseStorageTests {
    private let server: TestedClickHouse
    private let database: ClickHouseDatabase
    private let folder: TemporaryFolder
    private let clock = Clock()

    init() async throws {
        server = try #require(TestedClickHouse.current)
        database = try await ClickHouseDatabase(server)
        folder = try TemporaryFolder()
        clock.time = Samples.time(7200)
    }

    private func collector() async throws -> ClickHouseStorage {
        try await database.open(now: { [clock] in clock.time })
    }

    /// Samples.time(2_800) is a full hour.
    private static let start: UInt64 = 2_800

    /// A batch of one of six processes. Its durations are multiples of 1/1024 s, so sums are exact in any order.
    private static func batch(_ number: Int, _ random: inout SeededGenerator) -> (BatchID, InstanceMetrics) {
        let (process, sequence) = (number % 6, UInt64(number / 6 + 1))
        let end = start + 10 * sequence
        var points: [RequestPoint] = []
        for endpoint in 0..<Int.random(in: 1...5, using: &random) {
            let isFailed = Int.random(in: 0..<4, using: &random) == 0
            let seconds = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                Double(Int.random(in: 1...4096, using: &random)) / 1024
            }
            var point = Samples.point(
                Samples.dimensions(
                    process % 2 == 0 ? .client : .server, endpoint: "/\(endpoint)", status: isFailed ? 503 : 200,
                    error: isFailed ? "503" : nil), seconds, end: end)
            point.statistics.duration.lowerScale(to: Int32(7 - endpoint % 3))
            point.statistics.phases = Samples.phases([.dns: (2, 0.25), .transfer: (3, 0.5)])
            (point.statistics.bytesSent, point.statistics.bytesReceived) = (UInt64(number), 7)
            points.append(point)
        }
        let resource = Samples.resource("service-\(process % 3)", instance: "i-\(process)")
        let ledger = LedgerReading(time: Samples.time(end), captured: 40 * sequence, waiting: 3, age: 10 * sequence)
        return (
            BatchID(instance: resource.instance, sequence: sequence, signal: .metrics),
            InstanceMetrics(resource: resource, points: points, ledger: ledger)
        )
    }

    private static func window(_ from: UInt64, _ to: UInt64) -> TimeWindow {
        TimeWindow(from: Samples.time(start + from), to: Samples.time(start + to))
    }

    private static let queries: [StatisticsQuery] = {
        var blocks = StatisticsQuery(window: window(10, 910), by: [.endpoint], step: 300_000_000_000)
        blocks.slotEnd = blocks.window.to
        return [
            StatisticsQuery(window: window(0, 3600), by: Dimension.allCases),
            StatisticsQuery(window: window(0, 1200), by: [.service, .kind], order: GroupOrder(.p95), limit: 3),
            StatisticsQuery(
                window: window(35, 777), filter: RequestFilter([.status: ["5xx"], .host: ["api.example.com"]]),
                by: [.service, .endpoint], limit: 4, step: 120_000_000_000),
            StatisticsQuery(window: window(0, 1000), filter: RequestFilter([.service: ["service-1"]]), by: []), blocks,
        ]
    }()

    @Test func answersEqualThoseOfAFileHoweverOftenBatchesArrive() async throws {
        var random = SeededGenerator(seed: 19)
        let sqlite = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { [clock] in clock.time })
        let batches = (0..<360).map { Self.batch($0, &random) }
        for (id, metrics) in batches { #expect(try await sqlite.store([metrics], of: id) == .stored) }

        let collectors = [try await collector(), try await collector()]
        let repeated = (0..<120).map { _ in Int.random(in: 0..<360, using: &random) }
        let order = (Array(0..<360) + repeated).shuffled(using: &random)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (position, number) in order.enumerated() {
                let (id, metrics) = batches[number]
                group.addTask { _ = try await collectors[position % 2].store([metrics], of: id) }
                if position % 40 == 39 { try await group.waitForAll() }
            }
            try await group.waitForAll()
        }
        for (one, other) in zip(
            try await sqlite.statistics(Self.queries), try await collectors[0].statistics(Self.queries))
        {
            #expect(try one.get() == other.get())
        }
        let agents = try await (sqlite.agents(), collectors[1].agents())
        #expect(Set(agents.0.map(\.resource)) == Set(agents.1.map(\.resource)))
        for agent in agents.0 {
            let same = agents.1.first { $0.resource == agent.resource }
            #expect(same?.ledger == agent.ledger && same?.gaps == agent.gaps)
        }
    }

    @Test func partlyStoredBatchCountsOnceWhenResent() async throws {
        let (one, other) = (try await collector(), try await collector())
        let id = BatchID(instance: "i-1", sequence: 1, signal: .metrics)
        let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
        _ = try await one.store(metrics, of: id)
        // A collector killed between its inserts leaves rows without the batch's number.
        try await one.client.removeRows(of: Schema.batch)
        #expect(try await other.store(metrics, of: id) == .stored)
        let answer = try await other.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map(\.count) == [3])
        #expect(answer.account.completeness == 1)
    }

    /// A view divides by zero if a point has sent 4,242 bytes, so ClickHouse refuses the insert.
    @Test(.enabled("the view is on one server") { TestedClickHouse.current?.cluster == nil })
    func batchThatCannotBeStoredDoesNotHoldUpTheOthers() async throws {
        let store = try await collector()
        let rows = store.client.layout.nameOfRows(Schema.point)
        try await store.client.run(
            "CREATE MATERIALIZED VIEW refusal ENGINE = Memory AS SELECT intDiv(1, sent - 4242) AS one FROM \(rows)")
        let refused = await withTaskGroup(of: Int?.self) { group in
            for number in 0..<24 {
                var metrics = Samples.metrics(end: 10 + UInt64(number))
                metrics.points[0].statistics.bytesSent = number == 13 ? 4242 : 1
                let id = BatchID(instance: "i-\(number)", sequence: 1, signal: .metrics)
                group.addTask { [metrics] in
                    do { return try await store.store([metrics], of: id) == .stored ? nil : number } catch {
                        return number
                    }
                }
            }
            return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
        }
        try await store.client.run("DROP TABLE refusal")
        #expect(refused == [13])
    }

    /// Unnumbered spans of twenty series, half of them on the next day.
    private static let spans: [DetailsBatch] = {
        let spans = (1...40 as ClosedRange<UInt8>).map { number in
            var span = Samples.detail(number)
            span.start = Samples.time(UInt64(number) + (number % 2 == 0 ? 86_400 : 0))
            span.request = Samples.dimensions(.client, endpoint: "/\(number % 20)")
            return span
        }
        var resource = Samples.resource("other", instance: "i-other")
        resource.agent = nil
        return [DetailsBatch(resource: resource, details: spans)]
    }()

    /// A collector killed between its inserts leaves points with only some of their spans, or with none.
    @Test(arguments: [nil, Int64(spans[0].details[0].start) / StoredDay.length])
    func countedSpansThatWereNotAllKeptCountOnceWhenResent(lostDay: Int64?) async throws {
        let (one, other) = (try await collector(), try await collector())
        _ = try await one.store(Self.spans, of: nil)
        for day in try await one.client.parts(of: Schema.detail) where day == lostDay ?? day {
            try await one.client.drop(day, of: Schema.detail)
        }
        _ = try await other.store(Self.spans, of: nil)
        let answer = try await other.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map(\.count) == [40])
        #expect(try await other.client.count("FROM detail FINAL") == 40)
    }

    @Test func pointsBecomeHoursWithTheSameFiguresHoweverManyCollectorsMakeThem() async throws {
        let collectors = [try await collector(), try await collector()]
        var random = SeededGenerator(seed: 7)
        for number in 0..<600 {
            let (id, metrics) = Self.batch(number, &random)
            _ = try await collectors[number % 2].store([metrics], of: id)
        }
        let query = StatisticsQuery(window: Self.window(0, 3600), by: [.service, .endpoint, .status])
        var before = try await collectors[0].statistics(query)
        clock.time = Samples.time(7200 + 34 * 86_400)
        // The second pass drops the points that the first pass rolled up to hours.
        for _ in 0..<2 {
            for one in collectors { try await one.maintain() }
        }
        #expect(try await collectors[0].client.count("FROM point") == 0)
        var after = try await collectors[1].statistics(query)
        // The ends are now those of full hours.
        for index in before.groups.indices { before.groups[index].ends = nil }
        for index in after.groups.indices { after.groups[index].ends = nil }
        #expect(before.groups == after.groups)
        #expect(before.groups.count > 5)
        let none = TimeWindow(from: 0, to: 0)
        #expect(try await collectors[1].statistics(StatisticsQuery(window: none, by: [.service])).groups.isEmpty)
    }

    @Test func pointsThatArriveBetweenTheMakingOfTheirHourAndTheirDeletionCount() async throws {
        let storage = try await collector()
        var random = SeededGenerator(seed: 7)
        let batches = (0..<12).map { Self.batch($0, &random) }
        let query = StatisticsQuery(window: Self.window(0, 3600), by: [.service])
        for (id, metrics) in batches.dropLast(6) { _ = try await storage.store([metrics], of: id) }
        clock.time = Samples.time(7200 + 34 * 86_400)
        try await storage.maintain()
        #expect(try await storage.client.rolledHours().end > 0)
        for (id, metrics) in batches.suffix(6) { _ = try await storage.store([metrics], of: id) }
        try await storage.maintain()
        #expect(try await storage.client.count("FROM point") == 0)
        let answer = try await storage.statistics(query)
        let requests = batches.flatMap(\.1.points).reduce(0) { $0 + $1.statistics.requests }
        #expect(answer.groups.reduce(0) { $0 + $1.count } == requests)
    }

    @Test func collectorsShareTheWorkOnAWeek() async throws {
        let (one, other) = (try await collector(), try await collector())
        var random = SeededGenerator(seed: 7)
        for number in 0..<12 {
            let (id, metrics) = Self.batch(number, &random)
            _ = try await one.store([metrics], of: id)
        }
        clock.time = Samples.time(7200 + 34 * 86_400)
        // If another collector has made an hour, it is not made again: here its rows stay missing.
        let hour = UInt32(hourOf: Int64(Samples.time(Self.start + 1)))
        let revision = try #require(try await HourRevisions.read(Int64(hour), .whole, one.client)).ofPoints
        for table in [Schema.earlyVersionHour, Schema.wholeVersionHour] {
            try await one.client.run("INSERT INTO \(table.name) (hour, revision) VALUES (\(hour), \(revision))")
        }
        try await other.maintain()
        #expect(try await other.client.rolledHours().end > 0)
        #expect(try await other.client.count("FROM version_hour") == 0)
    }

    @Test func earlyHourServesAsTheHourOfAnOldWeek() async throws {
        let storage = try await collector()
        var random = SeededGenerator(seed: 7)
        for number in 0..<12 {
            let (id, metrics) = Self.batch(number, &random)
            _ = try await storage.store([metrics], of: id)
        }
        try await storage.maintain()
        let query = StatisticsQuery(window: Self.window(0, 3600), by: [.service])
        let client = storage.client
        let hour = UInt32(hourOf: Int64(Samples.time(Self.start + 1)))
        func statements() async throws -> Int {
            try await HourKind.whole.statements(for: Int64(hour), from: .points, maxPoints: 1000, client).count
        }
        #expect(try await HourRevisions.read(Int64(hour), .early, client)?.holds == true)
        // The remaining statements are those of the ledgers and of the processes.
        #expect(try await statements() == 2)
        // Spans of the same hour do not change the early hour, but it is no longer complete.
        var spans = Self.spans[0]
        for index in spans.details.indices { spans.details[index].start = Samples.time(Self.start + 60) }
        _ = try await storage.store([spans], of: nil)
        #expect(try await HourRevisions.read(Int64(hour), .early, client)?.holds == true)
        #expect(try await statements() == 3)
        let before = try await storage.statistics(query).groups
        clock.time = Samples.time(7200 + 34 * 86_400)
        for _ in 0..<2 { try await storage.maintain() }
        #expect(try await storage.statistics(query).groups.map(\.count) == before.map(\.count))
    }

    @Test func senderIsForgottenWithItsHoursUnlessItIsStillRunning() async throws {
        let storage = try await collector()
        let start = clock.time
        _ = try await storage.store([Samples.metrics(requests: 1, captured: 1, end: 7200)], of: nil)
        var living = Samples.metrics(requests: 1, captured: 1, end: 7200)
        living.resource.instance = "i-living"
        for month in 0..<16 as Range<UInt64> {
            clock.time = start + month * 30 * 86_400 * 1_000_000_000
            _ = try await storage.store(
                [living], of: BatchID(instance: "i-living", sequence: month + 1, signal: .metrics))
            try await storage.maintain()
            // Hours are kept for 400 days.
            if month < 13 { #expect(try await storage.agents().count == 2) }
        }
        let agents = try await storage.agents()
        #expect(agents.map(\.resource.instance) == ["i-living"])
        #expect(agents.map(\.firstSeen) == [start])
    }

    @Test func errorForADatabaseWithoutTablesNamesTheCommand() async throws {
        let location = try ClickHouseLocation(server.newDatabase())
        let failure = await #expect(throws: StorageFailure.self) {
            _ = try await ClickHouseStorage(at: location, ClickHouseCredentials([:]), now: { 0 })
        }
        #expect(failure?.description.contains("run: martlet-collector migrate --store clickhouse:\(location)") == true)
    }

    @Test func newerDatabaseIsRefusedAndUnchanged() async throws {
        try await collector().client.run("INSERT INTO migration (version) VALUES (\(Schema.version + 1))")
        await #expect(throws: StorageFailure.self) { _ = try await collector() }
        await #expect(throws: StorageFailure.self) {
            try await Migration.run(at: database.location, ClickHouseCredentials([:]))
        }
    }

    /// A column is removed, as if this version had added it.
    @Test func migrationAddsAColumnThatTheTablesLack() async throws {
        let storage = try await collector()
        let layout = storage.client.layout
        try await storage.client.run("ALTER TABLE \(layout.everywhere(Schema.processEnd)) DROP COLUMN endpoint")
        let old =
            "(hour, service, environment, version, instance, reporter, end_ns, cause, signal, function, file, line)"
        try await storage.client.run(
            "INSERT INTO \(layout.nameOfRows(Schema.processEnd)) \(old) VALUES (1, 's', '', '', 'a', '', 1, 'signal', '', '', '', 0)"
        )
        for _ in 0..<2 { try await Migration.run(at: database.location, ClickHouseCredentials([:])) }
        // A collector of the version before, which does not know the column, goes on.
        try await storage.client.run(
            "INSERT INTO process_end \(old) VALUES (1, 's', '', '', 'b', '', 1, 'signal', '', '', '', 0)")
        let new = "(hour, service, instance, end_ns, endpoint)"
        try await storage.client.run("INSERT INTO process_end \(new) VALUES (1, 's', 'c', 1, 'GET /')")
        let found = try await storage.client.texts("concat(instance, endpoint)", "FROM process_end ORDER BY instance")
        #expect(found == ["a", "b", "cGET /"])
    }

    @Test func senderThatComesBackAfterWeeksKeepsItsFirstTime() async throws {
        let weeks: UInt64 = 60 * 86_400
        for (day, instances) in [(0, ["stays", "goes"]), (weeks, ["stays"])] as [(UInt64, [String])] {
            let collector = try await database.open(now: { Samples.time(day + 20) })
            for instance in instances {
                let metrics = Samples.metrics(end: day + 10, resource: Samples.resource(instance: instance))
                _ = try await collector.store([metrics], of: nil)
            }
        }
        let reader = try await database.open(now: { Samples.time(weeks + 30) })
        let agents = try await reader.agents(seenSince: Samples.time(weeks), limit: 10).agents
        #expect(agents.map(\.resource.instance) == ["stays"])
        #expect(agents.map(\.firstSeen) == [Samples.time(20)])
        let all = try await reader.agents(seenSince: 0, limit: 10).agents
        #expect(Set(all.map(\.resource.instance)) == ["stays", "goes"])
        let window = TimeWindow(from: Samples.time(weeks), to: Samples.time(weeks + 30))
        let answer = try await reader.statistics(StatisticsQuery(window: window, by: [.instance]))
        #expect(answer.groups.map(\.values) == [["stays"]])
        #expect(answer.account.completeness == 1)
    }

    @Test(.enabled(if: TestedStore.current != .chDB, "chDB has no users"))
    func wrongPasswordGivesOneSentenceWithoutThePassword() async throws {
        let right = ["MARTLET_CLICKHOUSE_USER": "martlet", "MARTLET_CLICKHOUSE_PASSWORD": "sesame"]
        _ = try await ClickHouseStorage(at: database.location, ClickHouseCredentials(right), now: { 0 })
        let wrong = right.merging(["MARTLET_CLICKHOUSE_PASSWORD": "open-up"]) { $1 }
        let failure = await #expect(throws: ClickHouseError.self) {
            _ = try await ClickHouseStorage(at: database.location, ClickHouseCredentials(wrong), now: { 0 })
        }
        let text = failure?.description ?? ""
        #expect(text.hasPrefix("ClickHouse refuses: ") && !text.contains("open-up") && !text.contains("\n"))
    }

    @Test func nextServerAnswersIfOneIsAway() async throws {
        let closed = try Loopback.listen()
        Connection(descriptor: closed.descriptor).close()
        let location = try ClickHouseLocation(
            "http://127.0.0.1:\(closed.port),\(database.location)")
        let storage = try await ClickHouseStorage(at: location, ClickHouseCredentials([:]), now: { 0 })
        #expect(try await storage.id == collector().id)
        let alone = try ClickHouseLocation("http://127.0.0.1:\(closed.port)/martlet")
        await #expect(throws: ClickHouseError.self) {
            _ = try await ClickHouseStorage(at: alone, ClickHouseCredentials([:]), now: { 0 })
        }
    }

    @Test func serverThatTimesOutIsNotAskedAgain() async throws {
        let silent = try Loopback.listen()
        let asked = Asked()
        Thread {
            // The connections stay open and unread until the listener is shut down.
            while Loopback.accept(from: silent.descriptor) != nil { asked.count.add(1, ordering: .relaxed) }
        }.start()
        let location = try ClickHouseLocation("http://127.0.0.1:\(silent.port)/martlet")
        var limits = ClickHouseLimits()
        limits.answerTime = 0.2
        let patience = limits
        let failure = await #expect(throws: ClickHouseError.self) {
            _ = try await ClickHouseStorage(at: location, ClickHouseCredentials([:]), limits: patience, now: { 0 })
        }
        #expect(failure?.description.hasPrefix("no ClickHouse server answers: ") == true)
        #expect(asked.count.load(ordering: .relaxed) == 1)
        Connection(descriptor: silent.descriptor).shutDown()
        Connection(descriptor: silent.descriptor).close()
    }

    @Test func readThatTimesOutIsNotRepeatedAtTheNextServer() async throws {
        let servers = [try Loopback.listen(), try Loopback.listen()]
        let asked = [Asked(), Asked()]
        for (server, asked) in zip(servers, asked) {
            let descriptor = server.descriptor
            Thread {
                while Loopback.accept(from: descriptor) != nil { asked.count.add(1, ordering: .relaxed) }
            }.start()
        }
        let location = try ClickHouseLocation(
            "http://127.0.0.1:\(servers[0].port),http://127.0.0.1:\(servers[1].port)/martlet")
        let connection = ClickHouseConnection(location, ClickHouseCredentials([:]), timeout: 0.2)
        await #expect(throws: ReadTimeout.self) { _ = try await connection.read("SELECT 1", settings: []) }
        // The statement, and the request to end it.
        try await wait(for: "both requests") { asked[0].count.load(ordering: .relaxed) == 2 }
        #expect(asked[1].count.load(ordering: .relaxed) == 0)
        for server in servers {
            Connection(descriptor: server.descriptor).shutDown()
            Connection(descriptor: server.descriptor).close()
        }
    }

    /// A statement that would never end.
    private static let endless = "SELECT count() FROM system.numbers"

    @Test func statementThatTakesTooLongIsEnded() async throws {
        let connection = ClickHouseConnection(database.location, ClickHouseCredentials([:]), timeout: 1)
        await #expect(throws: ReadTimeout(seconds: 1)) {
            _ = try await connection.read(Self.endless, settings: [])
        }
        try await wait(for: "the statement's end") { try await running() == 0 }
    }

    @Test(.enabled(if: TestedStore.current != .chDB, "chDB runs one statement at a time"))
    func statementOfACancelledTaskIsEnded() async throws {
        let connection = ClickHouseConnection(database.location, ClickHouseCredentials([:]), timeout: 600)
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask { try await connection.read(Self.endless, settings: []) }
            try await wait(for: "the statement") { try await running() == 1 }
            group.cancelAll()
            let end = await group.nextResult()
            #expect(throws: CancellationError.self) { try end?.get() }
        }
        try await wait(for: "the statement's end") { try await running() == 0 }
    }

    /// Returns the number of endless statements that run.
    private func running() async throws -> Int {
        try await collector().client.count(
            "FROM system.processes WHERE query LIKE '\(Self.endless)%'")
    }

    private final class Asked: Sendable {
        let count = Atomic(0)
    }

    @Test func unknownClusterGivesOneSentence() async throws {
        let location = try ClickHouseLocation(server.newDatabase())
        for name in ["nowhere", "a;drop"] {
            await #expect(throws: StorageFailure.self) {
                try await Migration.run(at: location, ClickHouseCredentials([:]), cluster: name)
            }
        }
        // Existing tables stay on their cluster.
        await #expect(throws: StorageFailure.self) {
            try await Migration.run(at: database.location, ClickHouseCredentials([:]), cluster: "nowhere")
        }
        try await Migration.run(at: database.location, ClickHouseCredentials([:]))
        let layout = try await collector().client.layout
        #expect(layout.cluster == server.cluster)
    }

    @Test(arguments: ["http://h:8123", "ftp://h/d", "http://h/d;drop", "http://u:p@h/d", "h/d", "http://a,/d"])
    func addressWithoutAServerOrADatabaseIsRefused(text: String) {
        #expect(throws: StorageFailure.self) { try ClickHouseLocation(text) }
    }
}
