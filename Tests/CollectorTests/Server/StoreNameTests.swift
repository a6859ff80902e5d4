import Fixtures
import HTTPTypes
import HummingbirdTesting
import MartletSQLiteStorage
import MartletServer
import MartletTelemetry
import Testing

/// The store's identity, by which agents know that two collectors share a store.
@Suite struct StoreNameTests {
    private func names(_ path: String) async throws -> [String?] {
        let names = Collected()
        try await withServer(tokens: ServerTokens(ingest: "a", read: "b"), store: path) { client in
            for response in [
                try await client.post(try Samples.body(), token: "a"), try await client.post([0xff], token: "a"),
                try await client.post([]), try await client.post([], to: "/v1/traces", token: "a"),
            ] {
                await names.add(HTTPField.Name(StoreHeader.name).flatMap { response.headers[$0] })
            }
        }
        return await names.values
    }

    private actor Collected {
        private(set) var values: [String?] = []

        func add(_ value: String?) { values.append(value) }
    }

    @Test func everyAnswerToASenderNamesTheStoreEvenAfterARestart() async throws {
        let folder = try TemporaryFolder()
        let first = try await names(folder.path("a.sqlite"))
        #expect(Set(first).count == 1)
        let name = try #require(first[0])
        #expect(name.utf8.count == 32)
        #expect(try await names(folder.path("a.sqlite")) == first)
        #expect(try await names(folder.path("b.sqlite"))[0] != name)
    }

    @Test func refusalBeforeTheStopAlsoNamesTheStore() async throws {
        try await withServer(prepare: { await $0.requests.drain() }) { client in
            let response = try await client.post(try Samples.body())
            #expect(response.status == .serviceUnavailable)
            #expect(HTTPField.Name(StoreHeader.name).flatMap { response.headers[$0] } != nil)
        }
    }

    /// A copy gets different batches from the moment it becomes a store.
    @Test func copyIsADifferentStore() throws {
        let folder = try TemporaryFolder()
        let storage = try SQLiteStorage(path: folder.path("a.sqlite"))
        _ = try StoreBackup.backUp(folder.path("a.sqlite"), to: folder.path("backup.sqlite"))
        let copy = try SQLiteStorage(readingFrom: folder.path("backup.sqlite"))
        #expect(copy.id.utf8.count == 32)
        #expect(copy.id != storage.id)
        _ = try StoreBackup.restore(folder.path("backup.sqlite"), to: folder.path("c.sqlite"))
        let ids = Set([storage.id, copy.id, try SQLiteStorage(readingFrom: folder.path("c.sqlite")).id])
        #expect(ids.count == 3)
    }
}
