import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// The figures of processes over time.
    @Suite struct ProcessTests {
        private let folder: TemporaryFolder
        private let clock = Clock()
        private let storage: any Storage
        private static let minute: UInt64 = 60_000_000_000

        init() async throws {
            folder = try TemporaryFolder()
            // The clock starts at a full hour, where slots of all lengths begin.
            clock.time = Samples.time(Self.start)
            storage = try await StorageContractTests.makeStore(in: folder) { [clock] in clock.time }
        }

        /// Seconds from the zero of ``Samples/time(_:)`` to the next full hour.
        private static let start = 3600 - 1_790_000_000 % 3600 as UInt64

        /// Returns the figures of an interval of 10 s with half a core busy.
        private static func point(
            end: UInt64, length: UInt64 = 10, memory: UInt64 = 100, uptime: UInt64? = nil
        ) -> ProcessPoint {
            var statistics = ProcessStatistics()
            statistics.counts = [
                .cpuUser: length * 400_000_000, .cpuSystem: length * 100_000_000, .minorFaults: length,
            ]
            statistics.covered = length * 1_000_000_000
            statistics.add(memory, of: .residentMemory)
            statistics.add(8, of: .threads)
            if let uptime { statistics.add(uptime * 1_000_000_000, of: .uptime) }
            return ProcessPoint(
                start: Samples.time(start + end - length), end: Samples.time(start + end), statistics: statistics)
        }

        private func store(
            _ points: [ProcessPoint], _ service: String = "checkout", instance: String = "i-1", batch: BatchID? = nil
        ) async throws {
            let metrics = InstanceMetrics(
                resource: Samples.resource(service, instance: instance), points: [], process: points)
            _ = try await storage.store([metrics], of: batch)
        }

        private func store(
            totals: [ProcessTotal], instance: String = "python"
        ) async throws {
            let resource = TelemetryResource(service: "prices", instance: instance, agent: "opentelemetry 1.38")
            _ = try await storage.store(
                [InstanceMetrics(resource: resource, points: [], processTotals: totals)], of: nil)
            clock.time += 1_000_000
            try await StorageContractTests.countCumulativePoints(in: storage)
        }

        private static func total(_ seconds: UInt64, end: UInt64, since: UInt64 = 0) -> ProcessTotal {
            ProcessTotal(
                .cpuUser, start: Samples.time(start + since), end: Samples.time(start + end),
                value: seconds * 1_000_000_000)
        }

        /// Queries the first seconds of the hour.
        private func answer(
            seconds: UInt64 = 600, step: UInt64 = minute, _ filter: RequestFilter = RequestFilter()
        ) async throws -> ProcessAnswer {
            let window = TimeWindow(from: Samples.time(Self.start), to: Samples.time(Self.start + seconds))
            return try await storage.processes(ProcessQuery(window: window, filter: filter, step: step))
        }

        @Test(arguments: [10, 60, 600] as [UInt64])
        func slotsOfEveryLengthShowTheSameCPUTimeAndMemory(step: UInt64) async throws {
            try await store((1...60).map { Self.point(end: $0 * 10, memory: $0 * 10) })
            let answer = try await answer(step: step * 1_000_000_000)
            let series = try #require(answer.services.first)
            #expect(series.total.cpu == 300_000_000_000)
            #expect(series.slots.count == Int(600 / step))
            for (index, slot) in series.slots.enumerated() {
                let slot = try #require(slot)
                #expect(abs(try #require(slot.cores) - 0.5) < 1e-9)
                #expect(abs(try #require(slot.rates[.minorFaults]) - 1) < 1e-9)
                #expect(slot.levels[.threads] == 8)
                let last = UInt64(index + 1) * step
                #expect(slot.levels[.residentMemory] == Double(last) - Double(step - 10) / 2)
                #expect(slot.samples[.residentMemory]?.max == last)
            }
        }

        @Test func processesAreAddedUpOnlyWithinTheirService() async throws {
            for instance in ["i-1", "i-2", "i-3"] {
                try await store((1...6).map { Self.point(end: $0 * 10) }, instance: instance)
            }
            try await store([Self.point(end: 10)], "prices")
            let answer = try await answer()
            #expect(answer.services.map(\.service) == ["checkout", "prices"])
            let slot = try #require(answer.services[0].slots[0])
            #expect(slot.processes == 3)
            #expect(abs(try #require(slot.cores) - 1.5) < 1e-9)
            #expect(slot.levels[.residentMemory] == 300)
            #expect(slot.samples[.residentMemory]?.max == 100)
            let only = try await self.answer(RequestFilter([.instance: ["i-2"]]))
            #expect(only.services.map(\.processes) == [1])
        }

        @Test func processAndItsSuccessorAreNotAddedUp() async throws {
            try await store((1...30).map { Self.point(end: $0 * 10, uptime: 900 + $0 * 10) })
            try await store((31...60).map { Self.point(end: $0 * 10, uptime: $0 * 10 - 300) }, instance: "i-2")
            let series = try #require(try await answer(step: 600_000_000_000).services.first)
            #expect(series.processes == 2)
            #expect(series.started == 1)
            let slot = try #require(series.slots[0])
            #expect(abs(try #require(slot.cores) - 0.5) < 0.05)
            #expect(abs(try #require(slot.levels[.residentMemory]) - 100) < 10)
        }

        /// Processes that follow each other, each with an interval of a minute.
        @Test(arguments: [2, 3, 4, 12, 60] as [UInt64])
        func processesThatFollowEachOtherAreAsOne(processes: UInt64) async throws {
            for process in 0..<processes {
                let minutes = (1...60 as ClosedRange<UInt64>).filter { ($0 - 1) * processes / 60 == process }
                try await store(minutes.map { Self.point(end: $0 * 60, length: 60) }, instance: "i-\(process)")
            }
            for step in [3600, 1800, 600, 180, 60] as [UInt64] {
                let series = try #require(
                    try await answer(seconds: 3600, step: step * 1_000_000_000).services.first)
                #expect(series.processes == Int(processes))
                #expect(series.total.cpu == 1_800_000_000_000)
                for slot in series.slots {
                    #expect(abs(try #require(slot?.cores) - 0.5) < 1e-9)
                    #expect(abs(try #require(slot?.levels[.residentMemory]) - 100) < 1e-9)
                }
            }
        }

        /// The intervals of two processes end at different times, and at no end of a slot.
        @Test(arguments: [10, 60, 180] as [UInt64]) func processesOfUnalignedIntervalsCountInFull(step: UInt64)
            async throws
        {
            for (instance, offset) in [("i-1", 3), ("i-2", 7)] as [(String, UInt64)] {
                try await store((1...60).map { Self.point(end: $0 * 10 + offset) }, instance: instance)
            }
            let slots = try #require(try await answer(step: step * 1_000_000_000).services.first).slots
            for slot in slots.dropFirst() {
                #expect(abs(try #require(slot?.levels[.residentMemory]) - 200) < 1e-9)
                #expect(abs(try #require(slot?.cores) - 1) < 1e-9)
            }
        }

        /// The last interval of one of two processes has not arrived yet.
        @Test func processThatReportsLaterIsNotMissingAtTheEnd() async throws {
            for (instance, offset) in [("i-1", 0), ("i-2", 5)] as [(String, UInt64)] {
                try await store((1...5).map { Self.point(end: $0 * 10 + offset) }, instance: instance)
            }
            let slot = try #require(try await answer(seconds: 60).services.first?.slots[0])
            #expect(abs(try #require(slot.levels[.residentMemory]) - 200) < 20)
        }

        @Test func batchSentTwiceCountsOnce() async throws {
            let batch = BatchID(instance: "i-1", sequence: 1, signal: .metrics)
            for _ in 1...2 { try await store([Self.point(end: 10)], batch: batch) }
            #expect(try await answer().services.first?.total.cpu == 5_000_000_000)
        }

        @Test func unnumberedBatchResentWithItsRequestsCountsOnce() async throws {
            let resource = TelemetryResource(service: "prices", instance: "p", agent: "opentelemetry 1.38")
            let point = Samples.point(Samples.dimensions(), [0.1], end: Self.start + 10)
            for _ in 1...2 {
                _ = try await storage.store(
                    [InstanceMetrics(resource: resource, points: [point], process: [Self.point(end: 10)])], of: nil)
            }
            #expect(try await answer().services.first?.total.cpu == 5_000_000_000)
        }

        @Test func intervalAcrossSeveralSlotsIsInAllOfThem() async throws {
            try await store([Self.point(end: 10), Self.point(end: 70, length: 60), Self.point(end: 80)])
            let series = try #require(try await answer(seconds: 80, step: 10_000_000_000).services.first)
            #expect(series.slots.allSatisfy { $0.map { abs(($0.cores ?? 0) - 0.5) < 1e-9 } ?? false })
            #expect(series.total.cpu == 40_000_000_000)
        }

        @Test func totalsCountByTheirDifferences() async throws {
            try await store(totals: [Self.total(2, end: 10)])
            try await store(totals: [Self.total(5, end: 20), Self.total(6, end: 30)])
            // One point is repeated, and one is late.
            try await store(totals: [Self.total(6, end: 30), Self.total(5, end: 20)])
            #expect(try await answer().services.first?.total.cpu == 6_000_000_000)
            #expect(try await answer().services.first?.total.covered == 30_000_000_000)
        }

        @Test func restartedTotalsCountFromTheirStart() async throws {
            try await store(totals: [Self.total(20, end: 10)])
            try await store(totals: [Self.total(1, end: 40, since: 20), Self.total(3, end: 50, since: 20)])
            #expect(try await answer().services.first?.total.cpu == 23_000_000_000)
        }

        /// Processes that were forked after their SDK was made share a start.
        @Test func totalsOfSeveralProcessesWithOneStartCountTheHighest() async throws {
            for turn in 1...5 as ClosedRange<UInt64> {
                try await store(totals: [Self.total(100 + 6 * turn, end: 10 * turn)])
                try await store(totals: [Self.total(40 + 3 * turn, end: 10 * turn + 1)])
            }
            #expect(try await answer().services.map(\.total.cpu) == [130_000_000_000])
        }

        @Test func firstTotalWithoutAStartCountsNothing() async throws {
            var first = Self.total(900, end: 10)
            first.start = 0
            var second = Self.total(904, end: 20)
            second.start = 0
            try await store(totals: [first])
            #expect(try await answer().services.isEmpty)
            try await store(totals: [second])
            #expect(try await answer().services.first?.total.cpu == 4_000_000_000)
        }

        @Test func senderListShowsTheLastMinute() async throws {
            try await store((1...30).map { Self.point(end: $0 * 10, memory: $0) })
            let agent = try #require(try await storage.agents(seenSince: 0, limit: 10).agents.first)
            let process = try #require(agent.process)
            #expect(process.covered == 60_000_000_000)
            #expect(process.gauges[.residentMemory]?.max == 30)
        }

        @Test func lastMinuteOfASenderEndsAtAGap() async throws {
            try await store([240, 250, 300].map { Self.point(end: $0) })
            let agent = try #require(try await storage.agents(seenSince: 0, limit: 10).agents.first)
            #expect(agent.process?.covered == 20_000_000_000)
        }

        @Test func olderFiguresBecomeCoarserAndExpire() async throws {
            try await store((1...60).map { Self.point(end: $0 * 10) })
            let hour: UInt64 = 3600
            // A store on ClickHouse has no figures of minutes, and keeps figures as they arrived for at least 24 days.
            let day = 24 * hour
            var ages: [(UInt64, UInt64)] = [(7 * hour, 60), (8 * day, hour)]
            if TestedStore.isClickHouse { ages = [(34 * day, hour)] }
            for (age, step) in ages {
                clock.time = Samples.time(Self.start + age)
                try await letAnHourPass()
                let answer = try await answer(step: 10_000_000_000)
                #expect(answer.grid.step == step * 1_000_000_000)
                #expect(answer.grid.window.to == Samples.time(Self.start + max(600, step)))
                #expect(answer.services.first?.total.cpu == 300_000_000_000)
            }
            // Hours are kept for 400 days, and on ClickHouse until the end of a part of four weeks.
            for days in stride(from: UInt64(61), through: 433, by: 31) {
                clock.time = Samples.time(Self.start + days * day)
                try await storage.maintain()
            }
            try await letAnHourPass()
            #expect(try await answer().services.isEmpty)
        }

        /// Lets an hour pass in which the sender agrees with the clock, so that the store believes the clock.
        private func letAnHourPass() async throws {
            try await storage.maintain()
            let now = (clock.time - Samples.time(Self.start)) / 1_000_000_000
            try await store([Self.point(end: now)])
            clock.time += 3600 * 1_000_000_000
            try await storage.maintain()
        }

        /// Stores what a process reports: a request and a ledger in its first minute, and only figures and a ledger in its second.
        private func storeTwoMinutes(_ resource: TelemetryResource) async throws {
            func ledger(_ second: UInt64, lost: UInt64) -> LedgerReading {
                LedgerReading(
                    time: Samples.time(Self.start + second), captured: lost + second,
                    dropped: lost > 0 ? ["buffer_full": lost] : [:], age: (100 + second) * 1_000_000_000)
            }
            let point = Samples.point(Samples.dimensions(), [0.1], end: Self.start + 20)
            let batches = [
                InstanceMetrics(resource: resource, points: [point], ledger: ledger(20, lost: 0)),
                InstanceMetrics(
                    resource: resource, points: [], ledger: ledger(115, lost: 7),
                    process: [Self.point(end: 115, memory: 100), Self.point(end: 105, memory: 50)]),
            ]
            for batch in batches { _ = try await storage.store([batch], of: nil) }
        }

        @Test func historyHasTheLastSignTheMemoryAndTheLossesOfEachMinute() async throws {
            let resource = Samples.resource("checkout", instance: "i-1")
            try await storeTwoMinutes(resource)
            try await storeTwoMinutes(TelemetryResource(service: "stock", environment: "other", instance: "i-2"))
            let window = TimeWindow(from: Samples.time(Self.start), to: Samples.time(Self.start + 120))
            let filter = RequestFilter([.environment: ["test"]])
            let histories = try await storage.histories(in: window, filter)
            #expect(histories.map(\.resource.service) == ["checkout"])
            let minutes = try #require(histories.first?.minutes)
            #expect(minutes.map(\.end) == [20, 115].map { Samples.time(Self.start + $0) })
            #expect(minutes.map(\.residentMemory) == [nil, 75])
            // ClickHouse keeps the losses of the latest ledger only.
            #expect(minutes.map(\.losses?.requests) == [TestedStore.isClickHouse ? nil : 0, 7])
            #expect(minutes.last?.losses?.age == 215_000_000_000)
            let first = TimeWindow(from: window.from, to: Samples.time(Self.start + 60))
            #expect(try await storage.histories(in: first, filter).first?.minutes.count == 1)
        }

        @Test func answerWithTooManySlotsIsRefused() async throws {
            try await store([Self.point(end: 10)])
            await #expect(throws: TooManyGroups.self) {
                let window = TimeWindow(from: Samples.time(0), to: Samples.time(700_000))
                return try await storage.processes(ProcessQuery(window: window, step: 10_000_000_000))
            }
        }
    }
}
