import Fixtures
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// The systems that services call, such as a database.
    @Suite struct CalledSystemTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
            try await CalledSystems.fill(storage)
        }

        @Test func mapHasOnePlaceForADatabaseThatTwoServicesCall() async throws {
            let query = MapQuery(window: Samples.everything, filter: RequestFilter(), limit: nil)
            let edges = try await ServiceCalls(query, in: storage).report.edges
            let ofDatabase = edges.filter { $0.callee == .host("db.internal:5432", system: "postgresql") }
            #expect(ofDatabase.map(\.caller) == [.service("shop"), .service("desk")])
            #expect(ofDatabase.map(\.sent?.count) == [8, 1])
            #expect(ofDatabase.map(\.sent?.failures.count) == [2, 0])
            let ofHost = edges.filter { $0.host == "es:9200" }
            #expect(ofHost.map(\.callee.name) == ["es:9200 (elasticsearch)", "es:9200"])
            #expect(ofHost.map(\.sent?.count) == [4, 3])
        }
    }
}
