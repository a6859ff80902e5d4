import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct CompletenessTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        private func store(
            _ requests: Int, captured: UInt64, end: UInt64, from resource: TelemetryResource = Samples.resource(),
            unwatched: UInt64 = 0, tellsItsAge: Bool = true
        ) async throws {
            var metrics = Samples.metrics(requests: requests, captured: captured, end: end, resource: resource)
            metrics.ledger?.age = tellsItsAge ? end * 1_000_000_000 : 0
            metrics.ledger?.unwatched = unwatched * 1_000_000_000
            _ = try await storage.store([metrics], of: nil)
        }

        private func account(_ from: UInt64, _ to: UInt64, service: String? = nil) async throws -> WindowAccount {
            let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
            let query = StatisticsQuery(
                window: window, filter: RequestFilter(service.map { [.service: [$0]] } ?? [:]), by: [])
            return try await storage.statistics(query).account
        }

        private func completeness(_ from: UInt64, _ to: UInt64, service: String? = nil) async throws -> Double? {
            try await account(from, to, service: service).completeness
        }

        @Test func completenessIsUnknownWithoutSenders() async throws {
            #expect(try await completeness(0, 100) == nil)
            try await store(1, captured: 1, end: 10)
            #expect(try await completeness(10, 100) == nil)
            #expect(try await completeness(0, 100, service: "cart") == nil)
        }

        @Test func eachServiceHasItsOwnAccount() async throws {
            try await store(98, captured: 98, end: 10)
            try await store(1, captured: 2, end: 10, from: Samples.resource("cart", instance: "i-2"))
            let account = try await account(0, 60)
            #expect(account.completeness == 0.99)
            #expect(account.services.mapValues(\.completeness) == [Samples.resource().service: 1, "cart": 0.5])
            #expect(account.services.mapValues(\.missing) == [Samples.resource().service: 0, "cart": 1])
        }

        @Test func completenessIsOneIfCaptureWasOnAndCapturedNothing() async throws {
            try await store(0, captured: 0, end: 10)
            #expect(try await completeness(0, 100) == 1)
            // The next reading covers the time since the one before it.
            try await store(0, captured: 0, end: 70)
            #expect(try await completeness(20, 30) == 1)
        }

        @Test func timeWithoutCaptureLowersCompleteness() async throws {
            for end in stride(from: UInt64(10), through: 60, by: 10) {
                try await store(1, captured: end / 10, end: end, unwatched: end > 40 ? 15 : 0)
                try await store(1, captured: end / 10, end: end, from: Samples.resource(instance: "i-2"))
            }
            let account = try await account(0, 60)
            #expect(account.completeness == 105.0 / 120)
            #expect((account.instances, account.unwatchedInstances) == (2, 1))
            #expect(account.longestUnwatched == 15e9)
            #expect(try await completeness(0, 40) == 1)
            #expect(try await completeness(50, 60) == 1)
        }

        @Test func windowWithinATimeWithoutCaptureHasCompletenessZero() async throws {
            try await store(5, captured: 5, end: 10)
            for end in [UInt64(70), 130] { try await store(0, captured: 5, end: end, unwatched: end - 10) }
            #expect(try await completeness(20, 120) == 0)
            #expect(try await completeness(30, 40) == 0)
            #expect(try await account(30, 40).longestUnwatched == 10e9)
        }

        @Test func timeWithoutCaptureBeforeTheFirstReadingIsSpreadEvenly() async throws {
            try await store(0, captured: 0, end: 40, unwatched: 20)
            #expect(try await account(20, 100).longestUnwatched == 10e9)
            #expect(try await completeness(20, 100) == 0.5)
        }

        @Test func nextReadingCoversTheEndOfAWindow() async throws {
            for (end, off) in [(10, 0), (20, 0), (80, 60)] as [(UInt64, UInt64)] {
                try await store(0, captured: 0, end: end, unwatched: off)
            }
            let account = try await account(10, 70)
            #expect(account.longestUnwatched == 50e9)
            let share: Double = 1 - 50.0 / 60
            #expect(account.completeness == share)
        }

        @Test func instanceWhoseAgeShowsALaterBeginningIsNotInTheWindow() async throws {
            var metrics = Samples.metrics(requests: 1, captured: 1, end: 9010)
            metrics.ledger?.age = 10_000_000_000
            _ = try await storage.store([metrics], of: nil)
            #expect(try await completeness(7200, 7500) == nil)
            #expect(try await completeness(8900, 9005) == 1)
        }

        @Test func accountThatGoesBackOrExceedsTheWindowIsHarmless() async throws {
            try await store(1, captured: 1, end: 10, unwatched: 9_000_000_000)
            try await store(1, captured: 2, end: 20, unwatched: 3)
            let account = try await account(0, 100)
            #expect(account.completeness == 0.5)
            #expect(account.longestUnwatched == 10e9)
        }

        @Test func completenessIsOneWhenEveryBatchArrived() async throws {
            try await store(4, captured: 4, end: 10)
            try await store(6, captured: 10, end: 20)
            #expect(try await completeness(0, 100) == 1)
            #expect(try await completeness(10, 100) == 1)
        }

        @Test func batchThatNeverArrivedIsAGap() async throws {
            try await store(4, captured: 4, end: 10)
            try await store(3, captured: 10, end: 30)
            #expect(try await completeness(0, 100) == 0.7)
            #expect(try await completeness(10, 100) == 0.5)
            #expect(try await completeness(0, 10) == 1)
        }

        @Test func lateBatchClosesTheGap() async throws {
            try await store(3, captured: 10, end: 30)
            try await store(4, captured: 4, end: 10)
            try await store(3, captured: 7, end: 20)
            #expect(try await completeness(0, 100) == 1)
        }

        @Test func windowWithinAGapIsNotComplete() async throws {
            try await store(10, captured: 10, end: 600)
            // The requests of the 20 minutes in between are lost, except for the last 20.
            try await store(20, captured: 110, end: 1800)
            for (from, to) in [(600, 1790), (700, 710), (900, 1500)] as [(UInt64, UInt64)] {
                #expect(try await completeness(from, to) == 0.2, "\(from) to \(to)")
            }
            // These windows contain a reading.
            #expect(try await completeness(590, 600) == 1)
            #expect(try await completeness(1500, 1800) == 0.2)
            #expect(try await completeness(1800, 2000) == nil)
        }

        @Test func gapCountsInEveryWindowItReachesAndWithOtherInstancesPresent() async throws {
            let other = Samples.resource("cart", instance: "i-2")
            try await store(0, captured: 0, end: 10)
            try await store(20, captured: 40, end: 3 * 86_400)
            for end in [UInt64(10), 1000, 2000] { try await store(10, captured: end, end: end, from: other) }
            #expect(try await completeness(10, 1000, service: "checkout") == 0.5)
            #expect(try await completeness(1000, 2000, service: "checkout") == 0.5)
            #expect(try await completeness(1000, 2000) == 30.0 / 1040)
        }

        @Test func instanceThatBeganAfterTheWindowIsNotInIt() async throws {
            // The samples' time begins 13 minutes and 20 seconds after a full hour.
            try await store(1, captured: 10, end: 7200, tellsItsAge: false)
            #expect(try await completeness(0, 600) == nil)
            #expect(try await completeness(0, 2800) == nil)
            // An hour may have only one reading, and the instance may have begun at any time in that hour.
            #expect(try await completeness(0, 6410) == 0.1)
        }

        @Test func futureIsUnknown() async throws {
            try await store(1, captured: 10, end: 10)
            #expect(try await completeness(10, 20) == nil)
            #expect(try await completeness(1_000_000, 2_000_000) == nil)
        }

        @Test func oneInstanceDoesNotFillTheGapOfAnother() async throws {
            try await store(9, captured: 5, end: 10, from: Samples.resource(instance: "i-1"))
            try await store(0, captured: 5, end: 10, from: Samples.resource("cart", instance: "i-2"))
            #expect(try await completeness(0, 100) == 0.5)
            #expect(try await completeness(0, 100, service: "checkout") == 1)
            #expect(try await completeness(0, 100, service: "cart") == 0)
        }

        @Test func impossibleNumbersAreHarmless() async throws {
            let sketch = try #require(
                ExponentialHistogram(
                    scale: 0, sum: 1, min: nil, max: nil, zeroCount: UInt64(Int64.max), offset: 0, buckets: []))
            for end in [UInt64(10), 20, 30] {
                let point = RequestPoint(
                    dimensions: Samples.dimensions(), start: Samples.time(end), end: Samples.time(end),
                    statistics: RequestStatistics(duration: sketch))
                let ledger = LedgerReading(time: Samples.time(end), captured: .max)
                let metrics = InstanceMetrics(resource: Samples.resource(), points: [point], ledger: ledger)
                _ = try await storage.store([metrics], of: nil)
            }
            #expect(try await completeness(0, 100) == 1)
        }

        @Test func changedCaptureModeDoesNotCreateAnotherInstance() async throws {
            var resource = Samples.resource()
            try await store(4, captured: 4, end: 10, from: resource)
            resource.captureMode = "off"
            try await store(2, captured: 6, end: 20, from: resource)
            #expect(try await completeness(0, 100) == 1)
            #expect(try await storage.agents().map(\.resource.captureMode) == ["off"])
        }
    }
}
