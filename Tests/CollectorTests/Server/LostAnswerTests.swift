import Fixtures
import Foundation
import HummingbirdTesting
import MartletStorage
import MartletTelemetry
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A connection that ends after the batch is stored and before its answer is sent.
@Suite struct LostAnswerTests {
    @Test func batchResentAfterALostAnswerCountsOnce() async throws {
        let (outcomes, stored) = AsyncStream.makeStream(of: StoreOutcome.self)
        let (answers, release) = AsyncStream.makeStream(of: Void.self)
        try await withServer(
            storage: { HoldingStorage(storage: $0, stored: stored, answers: answers) },
            { client in
                var outcome = outcomes.makeAsyncIterator()
                let request = try post(try Samples.body(), port: try #require(client.port))
                let sending = Task { _ = try await URLSession.shared.data(for: request) }
                #expect(await outcome.next() == .stored)
                sending.cancel()
                await #expect(throws: (any Error).self) { try await sending.value }
                release.yield()

                release.yield()
                #expect(try await client.post(try Samples.body(), batch: "i-1/1/metrics").status == .ok)
                #expect(await outcome.next() == .duplicate)
                #expect(try await client.count() == 5)
            })
    }

    private func post(_ body: [UInt8], port: Int) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/v1/metrics")))
        request.httpMethod = "POST"
        request.setValue("application/x-protobuf", forHTTPHeaderField: "Content-Type")
        request.setValue("i-1/1/metrics", forHTTPHeaderField: BatchID.headerName)
        request.httpBody = Data(body)
        return request
    }
}

/// The real store. It signals when a batch of metrics is stored, and then holds the answer back.
private struct HoldingStorage: StorageWrapper {
    let storage: any Storage
    let stored: AsyncStream<StoreOutcome>.Continuation
    let answers: AsyncStream<Void>

    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        let outcome = try await storage.store(metrics, of: batch)
        stored.yield(outcome)
        for await _ in answers { break }
        return outcome
    }
}
