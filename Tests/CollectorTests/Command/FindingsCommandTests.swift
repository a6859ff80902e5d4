import Fixtures
import Foundation
import MartletFindings
import MartletReports
import MartletStorage
import Testing

/// `martlet-collector findings`, as a process.
@Suite struct FindingsCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let minute = 60_000_000_000 as UInt64
        let store = try await OutageStore(in: folder, start: SystemClock.now() / minute * minute - 40 * minute)
        let flags = ["findings", "--store", "sqlite:" + store.path] + arguments
        return try await ChildProcess(.martletCollector, flags).finish()
    }

    @Test func storeIsReadAndItsOutageIsASentence() async throws {
        let result = try await run([])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("1 thing happened, 1 is ongoing."), "\(result.output)")
        #expect(result.output.contains("1 ▲ failing"))
        #expect(result.output.contains("GET /orders of orders fails since"))
        #expect(result.output.contains("See it:  martlet-collector report --service orders"))
        #expect(result.output.contains("--store sqlite:"))
    }

    @Test func kindSelectsAndJSONIsThatOfTheAPI() async throws {
        let result = try await run(["--kind", "slow", "--format", "json"])
        let report = try ReportJSON.value(of: FindingsReport.self, in: Data(result.output.utf8))
        #expect(report.findings.isEmpty && report.count == 0)
    }

    /// A collector found the outage, and has ended since. The detector no longer reads so far back.
    @Test func findingOfDaysAgoIsListedFromWhatTheStoreKeeps() async throws {
        let (minute, day) = (60_000_000_000 as UInt64, 86_400_000_000_000 as UInt64)
        let start = SystemClock.now() / minute * minute - 3 * day
        let store = try await OutageStore(in: folder, start: start, minutes: 60, end: 40)
        let storage = try store.open()
        try await FleetWatch(of: storage, as: "a").tick(now: store.now)
        try storage.close()
        let flags = ["findings", "--store", "sqlite:" + store.path, "--since"]
        let week = try await ChildProcess(.martletCollector, flags + ["7d"]).finish()
        #expect(week.output.hasPrefix("1 thing happened, 0 are ongoing."), "\(week.output) \(week.errors)")
        #expect(week.output.contains("GET /orders of orders failed from"))
        let today = try await ChildProcess(.martletCollector, flags + ["1d"]).finish()
        #expect(today.output.hasPrefix("No findings."), "\(today.output)")
    }

    @Test func unknownKindIsRefused() async throws {
        let result = try await run(["--kind", "broken"])
        #expect(result.status == 64)
        #expect(result.errors.contains("kind must be one of"))
    }
}
