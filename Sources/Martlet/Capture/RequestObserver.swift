#if os(Linux)
import Foundation
import FoundationNetworking
import Synchronization

/// Stands between the native loader and its client: forwards every call as it came, and records the request at the
/// first of those that end it. All calls come on the session's queue.
final class RequestObserver: NSObject, URLProtocolClient {
    private let client: any URLProtocolClient
    private let start: RequestStart
    private let isFinished = Atomic<Bool>(false)
    private let bytesLoaded = Atomic<UInt64>(0)

    init(of client: any URLProtocolClient, start: RequestStart) {
        self.client = client
        self.start = start
    }

    /// Recorded before it is forwarded, so that a caller who has its answer is already counted.
    func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        finish(loader.task, error: nil)
        client.urlProtocolDidFinishLoading(loader)
    }

    func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        finish(loader.task, error: error)
        client.urlProtocol(loader, didFailWithError: error)
    }

    func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        bytesLoaded.add(UInt64(data.count), ordering: .relaxed)
        client.urlProtocol(loader, didLoad: data)
    }

    func urlProtocol(
        _ loader: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) {
        client.urlProtocol(loader, wasRedirectedTo: request, redirectResponse: redirectResponse)
    }

    func urlProtocol(_ loader: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        client.urlProtocol(loader, cachedResponseIsValid: cachedResponse)
    }

    func urlProtocol(
        _ loader: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        client.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
    }

    func urlProtocol(_ loader: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        client.urlProtocol(loader, didReceive: challenge)
    }

    func urlProtocol(_ loader: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        client.urlProtocol(loader, didCancel: challenge)
    }

    /// A cancelled task fails twice, once through its loader and once through its session: only the first counts.
    func finish(_ task: URLSessionTask?, error: (any Error)?) {
        guard !isFinished.exchange(true, ordering: .relaxed), let task, Capture.isOn.load(ordering: .relaxed),
            let request = CapturedRequest(
                task, error: error, start: start, bytesLoaded: bytesLoaded.load(ordering: .relaxed))
        else { return }
        Capture.record(request)
    }
}
#endif
