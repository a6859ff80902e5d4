import Fixtures
import MartletStorage
import MartletTelemetry
import Synchronization
import Testing

@testable import MartletReports

extension StorageContractTests {
    /// The pasts of rows that a comparison reads from a store.
    @Suite struct RowHistoriesTests {
        private static let hour: UInt64 = 3600
        /// A full hour.
        private static let start: UInt64 = 2800
        private let folder: TemporaryFolder
        private let clock = Clock()
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            clock.time = Samples.time(Self.start + 5 * Self.hour)
            storage = try await StorageContractTests.makeStore(in: folder, now: { [clock] in clock.time })
            for hour in 0..<5 as Range<UInt64> {
                let points = (0..<60 as Range<UInt64>).flatMap { minute in
                    Self.points(end: Self.start + hour * Self.hour + minute * 60 + 60)
                }
                _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
            }
        }

        /// Each minute `/a` has nine requests of 100 ms, one of 1 s, and two that fail. `/b` has three from the third hour on.
        private static func points(end: UInt64) -> [RequestPoint] {
            let fast = Samples.point(
                Samples.dimensions(endpoint: "/a"), Array(repeating: 0.1, count: 9) + [1], end: end)
            let failed = Samples.point(
                Samples.dimensions(endpoint: "/a", status: 503, error: "503"), [0.1, 0.1], end: end)
            let late = Samples.point(Samples.dimensions(endpoint: "/b"), [0.2, 0.2, 0.2], end: end)
            return [fast, failed] + (end > start + 2 * hour ? [late] : [])
        }

        /// The query of a window of ten minutes in the fifth hour, or some hours earlier.
        private func query(hoursEarlier: UInt64 = 0) -> StatisticsQuery {
            let from = Self.start + (4 - hoursEarlier) * Self.hour + 1200
            return StatisticsQuery(
                window: TimeWindow(from: Samples.time(from), to: Samples.time(from + 600)), by: [.endpoint])
        }

        @Test func thePastIsCountedUpToTheLastFullHour() async throws {
            let pasts = try await RowHistories(of: storage).pasts(of: [["/a"], ["/b"], ["/c"]], query())
            #expect(pasts.map(\.history.count) == [80, 40, 0])
            let (a, b) = (pasts[0], pasts[1])
            #expect(a.history.counts(.failures, to: 80, slots: 80) == SignalCounts(480, of: 2880))
            #expect(a.history.counts(.failures, to: 1, slots: 1) == SignalCounts(6, of: 36))
            // A twelfth of the requests are slower than most, so p99 is one of them.
            #expect(a.history.counts(.p50, to: 80, slots: 80).having == 240)
            #expect(a.history.counts(.p95, to: 80, slots: 80).having == 0)
            #expect(b.history.counts(.p50, to: 40, slots: 40) == SignalCounts(0, of: 360))
            let end = Int(Samples.time(Self.start + 4 * Self.hour) / 180_000_000_000)
            #expect(pasts.dropLast().map { $0.history.first + $0.history.count } == [end, end])
        }

        @Test func maintenanceChangesNoPast() async throws {
            let before = try await RowHistories(of: storage).pasts(of: [["/a"], ["/b"]], query())
            clock.time += 30 * 60_000_000_000
            try await storage.maintain()
            #expect(try await RowHistories(of: storage).pasts(of: [["/a"], ["/b"]], query()) == before)
        }

        @Test func rowsHaveTheSamePastAmongOthersAndAlone() async throws {
            // So many rows are read in small portions.
            let others = (0..<100).map { ["/other/\($0)"] }
            let together = try await RowHistories(of: storage).pasts(of: others + [["/b"]], query())
            #expect(try await RowHistories(of: storage).pasts(of: [["/b"]], query()) == [together[100]])
        }

        @Test func aPastIsReadOnceAnHour() async throws {
            let counted = CountedReads(storage: storage)
            let histories = RowHistories(of: counted)
            let first = try await histories.pasts(of: [["/a"]], query())
            let reads = counted.reads.withLock { $0 }
            var later = query()
            later.window = TimeWindow(from: later.window.from + 60_000_000_000, to: later.window.to + 60_000_000_000)
            #expect(try await histories.pasts(of: [["/a"]], later) == first)
            #expect(counted.reads.withLock { $0 } == reads)
            let earlier = try await histories.pasts(of: [["/a"]], query(hoursEarlier: 1))
            #expect(earlier.map(\.history.count) == [60])
            #expect(counted.reads.withLock { $0 } == 2 * reads)
        }
    }
}

private final class CountedReads: StorageWrapper {
    let storage: any Storage
    let reads = Mutex(0)

    init(storage: any Storage) { self.storage = storage }

    func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        reads.withLock { $0 += 1 }
        return try await storage.statistics(queries)
    }
}
