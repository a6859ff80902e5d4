import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct TimeSeriesTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        /// Stores `count` requests of an endpoint, each of which took `count` seconds, in the interval of 10 s before `end`.
        private func store(_ endpoint: String, _ count: Int, end: UInt64) async throws {
            let point = Samples.point(
                Samples.dimensions(endpoint: endpoint), Array(repeating: Double(count), count: count), end: end)
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: [point])], of: nil)
        }

        private func answer(from: UInt64, to: UInt64, step: UInt64?, limit: Int? = nil) async throws -> StatisticsAnswer
        {
            try await storage.statistics(
                StatisticsQuery(
                    window: TimeWindow(from: Samples.time(from), to: Samples.time(to)), by: [.endpoint], limit: limit,
                    step: step.map { $0 * 1_000_000_000 }))
        }

        @Test func eachPointCountsInTheSlotThatItEndsIn() async throws {
            // Samples.time(40) is a full minute.
            for (count, end) in [(1, UInt64(10)), (2, 40), (3, 50), (4, 100), (5, 110)] {
                try await store("/a", count, end: end)
            }
            let slots = try #require(try await answer(from: 0, to: 120, step: 60).slots)
            #expect(slots.grid.count == 3)
            #expect(slots.groups.map { $0.map(\.count) } == [[3, 7, 5]])
            #expect(slots.grid.window(ofSlot: 0) == TimeWindow(from: Samples.time(0), to: Samples.time(40)))
            #expect(slots.grid.window(ofSlot: 1) == TimeWindow(from: Samples.time(40), to: Samples.time(100)))
            #expect(slots.grid.window(ofSlot: 2) == TimeWindow(from: Samples.time(100), to: Samples.time(120)))
        }

        @Test func slotsOfAGroupAddUpToTheGroup() async throws {
            for number in 1...60 as ClosedRange<UInt64> {
                try await store(number.isMultiple(of: 3) ? "/a" : "/b", Int(number % 5) + 1, end: 10 * number)
            }
            let answer = try await answer(from: 5, to: 555, step: 60)
            let slots = try #require(answer.slots)
            for (group, slots) in zip(answer.groups, slots.groups) {
                #expect(slots.reduce(into: RequestGroup(values: group.values)) { $0.merge($1) } == group)
            }
        }

        @Test func slotsEndAtTheRequestedTime() async throws {
            for end in [10, 30, 40, 60, 70, 90] as [UInt64] { try await store("/a", Int(end / 10), end: end) }
            var query = StatisticsQuery(
                window: TimeWindow(from: Samples.time(0), to: Samples.time(90)), by: [.endpoint], step: 30_000_000_000)
            query.slotEnd = Samples.time(60)
            let slots = try #require(try await storage.statistics(query).slots)
            #expect(slots.groups.map { $0.map(\.count) } == [[4, 10, 16]])
            #expect(slots.grid.window(ofSlot: 1) == TimeWindow(from: Samples.time(30), to: Samples.time(60)))
        }

        @Test func onlyTheGroupsWithinTheLimitHaveSlots() async throws {
            try await store("/slow", 9, end: 10)
            try await store("/fast", 1, end: 10)
            try await store("/middle", 5, end: 20)
            let answer = try await answer(from: 0, to: 20, step: 10, limit: 2)
            #expect(answer.groups.map(\.values) == [["/slow"], ["/middle"]])
            #expect(answer.slots?.groups.map { $0.map(\.count) } == [[9, 0], [0, 5]])
            #expect(answer.groupCount == 3)
            #expect(answer.totals.mapValues(\.count) == [.client: 15])
        }

        @Test func queryWithoutAStepHasNoSlots() async throws {
            try await store("/a", 1, end: 10)
            #expect(try await answer(from: 0, to: 20, step: nil).slots == nil)
        }

        /// Data of other senders also counts: if a service is new in an old store, none of its earlier requests were missed.
        @Test func answerSaysSinceWhenTheStoreHasData() async throws {
            #expect(try await answer(from: 0, to: 100, step: nil).dataSince == nil)
            try await store("/a", 1, end: 30)
            try await store("/b", 1, end: 90)
            var query = StatisticsQuery(
                window: TimeWindow(from: Samples.time(0), to: Samples.time(100)),
                filter: RequestFilter([.endpoint: ["/b"]]), by: [.endpoint])
            for step in [nil, 10_000_000_000] as [UInt64?] {
                query.step = step
                let answer = try await storage.statistics(query)
                #expect(answer.dataSince == Samples.time(20))
                #expect(answer.ratedWindow == TimeWindow(from: Samples.time(20), to: Samples.time(100)))
            }
            let later = try await answer(from: 20, to: 100, step: nil)
            #expect(later.dataSince == nil && later.ratedWindow == later.window)
            let long = RequestPoint(
                dimensions: Samples.dimensions(), start: Samples.time(5), end: Samples.time(65),
                statistics: Samples.statistics([1]))
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: [long])], of: nil)
            #expect(try await storage.statistics(query).dataSince == Samples.time(5))
        }

        @Test func tooManySlotsAreRefused() async throws {
            for number in 0..<3 { try await store("/\(number)", 1, end: 10) }
            await #expect(throws: TooManyGroups.self) { try await answer(from: 0, to: 100_000, step: 10) }
        }

        @Test func groupHasTheTimesOfItsFirstAndLatestRequests() async throws {
            for end in [30, 20, 40] as [UInt64] { try await store("/a", 1, end: end) }
            for step in [nil, 60] as [UInt64?] {
                let ends = try await answer(from: 0, to: 100, step: step).groups.map(\.ends)
                #expect(ends == [Samples.time(20)...Samples.time(40)])
            }
        }
    }
}
