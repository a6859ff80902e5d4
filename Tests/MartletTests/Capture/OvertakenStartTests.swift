import Foundation
import FoundationNetworking
import Synchronization
import Testing

@testable import Martlet

extension AgentTests {
    /// If both come at the same moment, Foundation runs the start after the cancel.
    @Suite struct OvertakenStartTests {
        /// Loading the task would crash the process.
        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func taskCancelledBeforeItsStartIsCountedOnceAndNotLoaded(
            capture: MartletConfiguration.Capture
        ) async throws {
            try await withAgent({ $0.capture = capture }) { agent, collector, base in
                let task = try await cancelledTask(to: base / "held")
                let type = capture == .explicit ? ObservedProtocol.self : try #require(NativeLoader.type)
                let loader = type.init(task: task, cachedResponse: nil, client: Nobody())
                loader.stopLoading()
                // The agent counts the request before the caller is notified.
                if capture == .automatic { #expect(agent.status.ledger.captured == 1) }
                loader.startLoading()
                loader.startLoading()
                #expect(agent.status.ledger.captured == 1)
                #expect(agent.status.inFlight == 0)
                // The flush gives a request that was sent the time to arrive.
                let isSent = Atomic(false)
                arrivals.onArrival { isSent.store(true, ordering: .relaxed) }
                await agent.flush()
                let (wasSent, seen) = (isSent.load(ordering: .relaxed), try collector.outcomes())
                #expect(!wasSent)
                #expect(seen == ["/held - cancelled"])
            }
        }

        @Test func taskCancelledBeforeItWasResumedIsNotCounted() async throws {
            try await withAgent { agent, _, base in
                let session = URLSession(configuration: .ephemeral)
                for _ in 0..<20 {
                    let (ends, end) = AsyncStream.makeStream(of: Never.self)
                    let task = session.dataTask(with: base / "hello/x") { _, _, _ in end.finish() }
                    task.cancel()
                    task.resume()
                    for await _ in ends {}
                }
                #expect(agent.status.ledger.captured == 0)
                #expect(agent.status.inFlight == 0)
            }
        }

        private func cancelledTask(to url: URL) async throws -> URLSessionTask {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [IdleProtocol.self]
            let (ends, end) = AsyncStream.makeStream(of: Never.self)
            let task = URLSession(configuration: configuration).dataTask(with: url) { _, _, _ in end.finish() }
            task.resume()
            task.cancel()
            for await _ in ends {}
            try #require(task.error != nil)
            return task
        }
    }
}

final class IdleProtocol: URLProtocol {
    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() {}
    override func stopLoading() {}
}

final class Nobody: NSObject, URLProtocolClient {
    func urlProtocol(_: URLProtocol, wasRedirectedTo _: URLRequest, redirectResponse _: URLResponse) {}
    func urlProtocol(_: URLProtocol, cachedResponseIsValid _: CachedURLResponse) {}
    func urlProtocol(_: URLProtocol, didReceive _: URLResponse, cacheStoragePolicy _: URLCache.StoragePolicy) {}
    func urlProtocol(_: URLProtocol, didLoad _: Data) {}
    func urlProtocolDidFinishLoading(_: URLProtocol) {}
    func urlProtocol(_: URLProtocol, didFailWithError _: any Error) {}
    func urlProtocol(_: URLProtocol, didReceive _: URLAuthenticationChallenge) {}
    func urlProtocol(_: URLProtocol, didCancel _: URLAuthenticationChallenge) {}
}
