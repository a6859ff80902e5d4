#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// Stands between a native loader and its client: forwards every call as it came, and records the request at the first
/// of those that end it. All calls come on the session's queue.
final class RequestObserver: NSObject, URLProtocolClient {
    private let client: any URLProtocolClient
    private let observation: RequestObservation
    private let handle: EasyHandle?
    private let instrument: RequestInstrument
    private var responseBody: Data?

    /// To be made before the loader starts, and to be its client until it ends.
    init(
        of client: any URLProtocolClient, loader: URLProtocol, observation: RequestObservation,
        instrument: RequestInstrument
    ) {
        self.client = client
        self.observation = observation
        self.instrument = instrument
        handle = EasyHandle(of: loader)
        super.init()
        guard let handle else { return Capture.fault(.noEasyHandle) }
        handle.callBeforeRequest(self)
    }

    /// libcurl is about to write a request, the first or that of a redirect.
    func requestIsWritten() {
        guard let context = observation.noteRequestWritten(), instrument.propagates else { return }
        handle?.addTraceHeaders(context)
    }

    /// Recorded before it is forwarded, so that a caller who has his answer is already counted.
    func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        end(loader.task, error: nil)
        client.urlProtocolDidFinishLoading(loader)
    }

    func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        end(loader.task, error: error)
        client.urlProtocol(loader, didFailWithError: error)
    }

    /// Called once with the whole body where there is a completion handler; a delegate gets its data another way.
    func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        if instrument.keepsBodies { responseBody = data }
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

    func end(_ task: URLSessionTask?, error: (any Error)?) {
        guard let task else { return Capture.fault(.noTask) }
        let answer = RequestAnswer(task, error: error, handle: handle, body: responseBody)
        responseBody = nil
        if Capture.mayBeChallenged(answer) {
            observation.noteChallenge(answer)
        } else {
            instrument.end(observation, of: task, with: answer)
        }
    }
}
#endif
