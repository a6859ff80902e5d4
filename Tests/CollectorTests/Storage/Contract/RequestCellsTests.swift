import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct RequestCellsTests {
        private let folder: TemporaryFolder
        private let store: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            store = try await StorageContractTests.makeStore(in: folder)
        }

        private static let times = [0, 10].map { TimeWindow(from: Samples.time($0), to: Samples.time($0 + 10)) }

        /// - Parameter requests: the start of each in nanoseconds after the first time, and its duration in nanoseconds.
        private func keep(_ requests: [(start: UInt64, duration: UInt64)], of service: String = "checkout") async throws
        {
            let spans = requests.enumerated().map { number, request in
                var span = Samples.detail(UInt8(number + 1))
                (span.start, span.durationNanoseconds) = (Samples.time(0) + request.start, request.duration)
                return span
            }
            _ = try await store.store([DetailsBatch(resource: Samples.resource(service), details: spans)], of: nil)
        }

        private func cells(_ filter: RequestFilter = RequestFilter(), durations: [UInt64] = [100, 200]) async throws
            -> [[Int]]
        {
            try await store.cells(RequestCellsQuery(filter: filter, times: Self.times, durations: durations))
        }

        @Test func aRequestCountsWhereItStartedAndUpToItsBound() async throws {
            let second: UInt64 = 1_000_000_000
            try await keep([
                (0, 1), (1, 1), (10 * second, 100), (10 * second + 1, 101), (20 * second, 200), (20 * second, 201),
                (20 * second + 1, 1),
            ])
            // A window has its end and not its start, as that of counted requests.
            #expect(try await cells() == [[2, 0, 0], [0, 2, 1]])
            #expect(try await cells(durations: []) == [[2], [3]])
        }

        @Test func theFilterSelectsTheRequests() async throws {
            try await keep([(1, 1)])
            #expect(try await cells(RequestFilter([.service: ["checkout"]])) == [[1, 0, 0], [0, 0, 0]])
            #expect(try await cells(RequestFilter([.service: ["other"]])) == [[0, 0, 0], [0, 0, 0]])
            #expect(try await cells(RequestFilter([.endpoint: ["/nothing"]])) == [[0, 0, 0], [0, 0, 0]])
        }

        @Test func aQueryWithoutTimesHasNoCells() async throws {
            try await keep([(1, 1)])
            let query = RequestCellsQuery(filter: RequestFilter(), times: [], durations: [1])
            #expect(try await store.cells(query) == [])
        }
    }
}
