import Foundation
import FoundationNetworking
import Testing

@testable import Martlet

extension AgentTests {
    @Suite struct ExplicitCaptureTests {
        /// Foundation queues a start behind a cancel where both come at the same moment.
        @Test func aTaskThatWasCancelledAheadOfItsStartIsNotLoaded() async throws {
            try await withAgent({ $0.capture = .explicit }) { _, _, base in
                let configuration = URLSessionConfiguration.ephemeral
                configuration.protocolClasses = [IdleProtocol.self]
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let task = URLSession(configuration: configuration).dataTask(with: base / "hello/x") { _, _, _ in
                    end.finish()
                }
                task.resume()
                task.cancel()
                for await _ in ends {}
                try #require(task.error != nil)
                // It would end the process.
                ObservedProtocol(task: task, cachedResponse: nil, client: Nobody()).startLoading()
            }
        }
    }
}

private final class IdleProtocol: URLProtocol {
    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() {}
    override func stopLoading() {}
}

private final class Nobody: NSObject, URLProtocolClient {
    func urlProtocol(_: URLProtocol, wasRedirectedTo _: URLRequest, redirectResponse _: URLResponse) {}
    func urlProtocol(_: URLProtocol, cachedResponseIsValid _: CachedURLResponse) {}
    func urlProtocol(_: URLProtocol, didReceive _: URLResponse, cacheStoragePolicy _: URLCache.StoragePolicy) {}
    func urlProtocol(_: URLProtocol, didLoad _: Data) {}
    func urlProtocolDidFinishLoading(_: URLProtocol) {}
    func urlProtocol(_: URLProtocol, didFailWithError _: any Error) {}
    func urlProtocol(_: URLProtocol, didReceive _: URLAuthenticationChallenge) {}
    func urlProtocol(_: URLProtocol, didCancel _: URLAuthenticationChallenge) {}
}
