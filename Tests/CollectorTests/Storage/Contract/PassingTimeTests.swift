import Fixtures
import MartletOTLP
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// Maintenance of a store, and the order in time of its list of agents.
    @Suite struct PassingTimeTests {
        private let folder: TemporaryFolder
        private let clock = Clock()
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            clock.time = Samples.time(0)
            storage = try await StorageContractTests.makeStore(in: folder, now: { [clock] in clock.time })
        }

        private func count(from: UInt64, to: UInt64) async throws -> UInt64 {
            let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
            let answer = try await storage.statistics(StatisticsQuery(window: window, by: []))
            return answer.groups.reduce(0) { $0 + $1.count }
        }

        @Test func maintenanceDoesNotChangeTheCountsOfWindows() async throws {
            for end in stride(from: UInt64(10), through: 7200, by: 10) {
                _ = try await storage.store([Samples.metrics(requests: Int(end / 10 % 3), end: end)], of: nil)
            }
            let windows: [(UInt64, UInt64)] = [(0, 7200), (10, 7200), (0, 7190), (1200, 4800), (3605, 3700), (70, 75)]
            var before: [UInt64] = []
            for (from, to) in windows { before.append(try await count(from: from, to: to)) }
            #expect(before.first == 720)
            clock.time = Samples.time(7200 + 600)
            try await storage.maintain()
            for (window, expected) in zip(windows, before) {
                #expect(try await count(from: window.0, to: window.1) == expected, "\(window)")
            }
        }

        @Test(arguments: [(7, -2), (7, 0), (6, 2), (5, -1), (7, 6)] as [(Int32, Int32)])
        func coarseRequestsLeaveTheQuantilesOfTheOthersBeforeAndAfterMaintenance(
            fine: Int32, coarse: Int32
        ) async throws {
            for end in stride(from: UInt64(10), through: 600, by: 10) {
                // 40 to 60 ms.
                try await store((1...200).map { 0.04 + Double($0) * 0.0001 }, scale: fine, end: end)
                if end % 60 == 0 { try await store([0.05], scale: coarse, end: end) }
            }
            let before = try await quantiles()
            for (found, exact) in zip(before, [0.05, 0.059]) { #expect(abs(try #require(found) / exact - 1) < 0.02) }
            clock.time = Samples.time(7200 + 600)
            try await storage.maintain()
            #expect(try await quantiles() == before)
            #expect(try await count(from: 0, to: 600) == 12_010)
        }

        /// Stores the requests of ten seconds at a scale that their sender chose.
        private func store(_ seconds: [Double], scale: Int32, end: UInt64) async throws {
            var sketch = ExponentialHistogram(scale: scale)
            for one in seconds { sketch.record(one) }
            let point = RequestPoint(
                dimensions: Samples.dimensions(), start: Samples.time(end - 10), end: Samples.time(end),
                statistics: RequestStatistics(duration: sketch))
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: [point])], of: nil)
        }

        /// Returns p50 and p95 of the first hour; the row and the total agree on them.
        private func quantiles() async throws -> [Double?] {
            let window = TimeWindow(from: Samples.time(0), to: Samples.time(3600))
            let answer = try await storage.statistics(StatisticsQuery(window: window, by: [.service]))
            let (row, total) = (try #require(answer.groups.first), try #require(answer.totals[.client]))
            #expect(row.quantiles([0.5, 0.95]) == total.quantiles([0.5, 0.95]))
            return row.quantiles([0.5, 0.95])
        }

        @Test func sizesWithoutDurationsSurviveMaintenance() async throws {
            for end in [20, 30, 40] as [UInt64] {
                let size = OtherMetrics.histogram(
                    [OtherMetrics.point([50], end: end)], name: MetricName.serverResponseSize, unit: "By", .delta)
                try await OtherMetrics.send([size], instance: "a", to: storage)
            }
            clock.time = Samples.time(4000)
            try await storage.maintain()
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
            #expect(answer.groups.map(\.statistics.bytesSent) == [150])
            #expect(answer.damagedPoints == 0)
        }

        /// Stores a batch of each instance, each 10 s after the one before.
        private func hear(of instances: [String]) async throws {
            for (round, instance) in instances.enumerated() {
                clock.time = Samples.time(UInt64(round) * 10)
                let metrics = Samples.metrics(
                    requests: 1, end: UInt64(round) * 10 + 10, resource: Samples.resource(instance: instance))
                _ = try await storage.store([metrics], of: nil)
            }
        }

        @Test func mostRecentlySeenInstanceIsListedFirst() async throws {
            try await hear(of: ["i-1", "i-2", "i-3", "i-1"])
            #expect(try await storage.agents().map(\.resource.instance) == ["i-1", "i-3", "i-2"])
        }

        @Test func instanceNotSeenSinceTheGivenTimeIsNotListed() async throws {
            try await hear(of: ["i-1", "i-2", "i-3", "i-1"])
            for (since, expected) in [(0, ["i-1", "i-3", "i-2"]), (11, ["i-1", "i-3"]), (30, ["i-1"]), (31, [])] {
                let answer = try await storage.agents(seenSince: Samples.time(UInt64(since)), limit: 10)
                #expect(answer.agents.map(\.resource.instance) == expected)
                #expect(answer.more == 0)
            }
        }

        @Test func latestInstancesUpToTheLimitAreListedAndTheOthersCounted() async throws {
            try await hear(of: ["i-1", "i-2", "i-3", "i-4"])
            let latest = ["i-4", "i-3", "i-2", "i-1"]
            for (limit, since, more) in [(4, 0, 0), (3, 0, 1), (1, 0, 3), (1, 20, 1)] {
                let answer = try await storage.agents(seenSince: Samples.time(UInt64(since)), limit: limit)
                #expect(answer.agents.map(\.resource.instance) == Array(latest.prefix(limit)))
                #expect(answer.agents.allSatisfy { $0.ledger?.captured == 1 })
                #expect(answer.more == more)
            }
        }

        /// A store knows the instance of a request for six hours.
        @Test func requestsByInstanceAddUpAndTheAnswerSaysSinceWhenInstancesAreKnown() async throws {
            for end in stride(from: UInt64(10), through: 7 * 3600 + 10, by: 2520) {
                clock.time = Samples.time(end)
                // A store believes only a clock that does not jump.
                try await storage.maintain()
                guard end == 10 || end > 7 * 3600 else { continue }
                for instance in ["a", "b"] {
                    _ = try await storage.store(
                        [Samples.metrics(end: end, resource: Samples.resource(instance: instance))], of: nil)
                }
            }
            clock.time = Samples.time(7 * 3600 + 600)
            // Samples.time(2_800) is a full hour.
            let window = TimeWindow(from: Samples.time(2_800) - 3_600_000_000_000, to: Samples.everything.to)
            let query = StatisticsQuery(window: window, by: [.instance])
            var answer = try await storage.statistics(query)
            // A pass may end before it has made all hours.
            for _ in 0..<50 where answer.sendersSince == nil {
                try await storage.maintain()
                answer = try await storage.statistics(query)
            }
            #expect(answer.byValues.mapValues(\.duration.count) == [[nil]: 2, ["a"]: 1, ["b"]: 1])
            let since = try #require(answer.sendersSince)
            #expect(since > Samples.time(10) && since < Samples.time(7 * 3600))
        }

        @Test func accountIncludesSendersWhoseClocksAreAhead() async throws {
            for (service, ahead) in [("checkout", 0), ("prices", 120), ("search", 30)] as [(String, UInt64)] {
                clock.time = Samples.time(100)
                let metrics = Samples.metrics(end: 100 + ahead, resource: Samples.resource(service))
                _ = try await storage.store([metrics], of: nil)
            }
            func clocks(
                _ filter: RequestFilter = RequestFilter(), _ from: UInt64 = 0, _ to: UInt64 = 200
            ) async throws -> WindowAccount.ClocksAhead {
                let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
                return try await storage.account(in: window, filter).clocksAhead
            }
            #expect(try await clocks() == .init(senders: 2, longest: 120_000_000_000))
            let one = try await clocks(RequestFilter([.service: ["search"]]))
            #expect(one == .init(senders: 1, longest: 30_000_000_000))
            #expect(try await clocks(RequestFilter([.service: ["checkout"]])) == .init())
            // Requests in the latest batches have dates up to two minutes after their arrival.
            #expect(try await clocks(RequestFilter(), 140).senders == 1)
            #expect(try await clocks(RequestFilter(), 0, 99) == .init())
            #expect(try await clocks(RequestFilter(), 221, 300) == .init())
        }

        @Test func clockThatWasSetRightIsNotReportedOnceItsDatesHavePassed() async throws {
            for (second, ahead) in [(100, 120), (230, 0)] as [(UInt64, UInt64)] {
                clock.time = Samples.time(second)
                _ = try await storage.store([Samples.metrics(end: second + ahead)], of: nil)
                let window = TimeWindow(from: Samples.time(0), to: Samples.time(300))
                let account = try await storage.account(in: window, RequestFilter())
                #expect(account.clocksAhead.senders == (ahead > 0 ? 1 : 0))
                #expect(try await storage.agents().map(\.lead) == [ahead > 0 ? ahead * 1_000_000_000 : nil])
            }
        }

        @Test func latestInstancesOfAServiceAreFoundBehindManyOfAnother() async throws {
            for second in 0..<6 as Range<UInt64> {
                clock.time = Samples.time(second)
                var resource = Samples.resource(
                    second < 2 ? "rare" : "checkout", instance: "i-\(second)")
                resource.version = second == 0 ? nil : "1"
                _ = try await storage.store([Samples.metrics(end: 10, resource: resource)], of: nil)
            }
            func instances(_ filter: RequestFilter, limit: Int) async throws -> (names: [String], more: Int) {
                let answer = try await storage.agents(seenSince: 0, filter, limit: limit)
                return (answer.agents.map(\.resource.instance), answer.more)
            }
            #expect(try await instances(RequestFilter([.service: ["rare"]]), limit: 2) == (["i-1", "i-0"], 0))
            #expect(try await instances(RequestFilter([.service: ["rare"]]), limit: 1) == (["i-1"], 1))
            #expect(try await instances(RequestFilter([.version: [""]]), limit: 1) == (["i-0"], 0))
            // Dimensions of requests select no senders.
            #expect(try await instances(RequestFilter([.endpoint: ["/none"]]), limit: 1) == (["i-5"], 5))
        }
    }
}
