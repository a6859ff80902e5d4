#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import MartletTelemetry

/// Stands between a native loader and its client: forwards every call as it came, and records the request at the first
/// of those that end it.
///
/// `@unchecked Sendable` because `URLProtocolClient` asks for it, and truly so because all calls come on the session's
/// serial queue, and the last release behind them.
final class RequestObserver: NSObject, URLProtocolClient, @unchecked Sendable {
    private let client: any URLProtocolClient
    private let observation: RequestObservation
    private let handle: EasyHandle?
    private let instrument: RequestInstrument
    /// libcurl does not tell when the answer to such a request came.
    private let sendsBody: Bool
    /// When libcurl wrote the request, the last of several, and when the head of its answer came, by the monotonic clock.
    private var (written, head): (UInt64?, UInt64?)
    private var response: URLResponse?
    private var responseBody: Data?
    /// The answer that asked for credentials, and the task that it was given.
    private var challenge: (answer: RequestAnswer, task: InFlightRequests.Key)?

    /// To be made before the loader starts, and to be its client until it ends.
    ///
    /// - Parameter sendsBody: whether the request has a body.
    init(
        of client: any URLProtocolClient, loader: URLProtocol, observation: RequestObservation, sendsBody: Bool,
        instrument: RequestInstrument
    ) {
        self.client = client
        self.observation = observation
        self.sendsBody = sendsBody
        self.instrument = instrument
        handle = EasyHandle(of: loader)
        super.init()
        guard let handle else {
            if EasyHandle.isAvailable { CaptureSwitch.note(.noHandle) }
            return
        }
        guard instrument.recorder.allowance.traces else { return }
        handle.callBeforeRequest(Unmanaged.passUnretained(self).toOpaque()) { observer, _, _, _, _ in
            guard let observer else { return 0 }
            return Unmanaged<RequestObserver>.fromOpaque(observer).takeUnretainedValue().requestIsWritten()
        }
    }

    /// Foundation lets go of a loader when its task has ended, or goes on with another loader after a challenge. Any thread.
    deinit {
        guard let (answer, task) = challenge, observation.isOfThisProcess, observation.isOver(after: answer) else {
            return
        }
        InFlightRequests.remove(observation, at: task)
        instrument.endUnseen(observation, with: answer)
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
        let recorder = instrument.recorder
        if recorder.settings.contents.hasBodies, recorder.allowance.keepsDetails { responseBody = data }
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
        self.response = response
        client.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
    }

    func urlProtocol(_ loader: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        client.urlProtocol(loader, didReceive: challenge)
    }

    func urlProtocol(_ loader: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        client.urlProtocol(loader, didCancel: challenge)
    }

    func end(_ task: URLSessionTask?, error: (any Error)?) {
        guard observation.isOfThisProcess else { return }
        guard let task else { return CaptureSwitch.note(.noTask) }
        AgentCost.measure {
            // A task answers on a queue of its own, for which one would have to wait.
            if sendsBody { handle?.ignoreHead() }
            let response = response ?? task.response
            let answer = RequestAnswer(
                response: response as? HTTPURLResponse, error: error, handle: handle, body: responseBody,
                isTimed: instrument.recorder.allowance.traces, firstByte: firstByte)
            (self.response, responseBody) = (nil, nil)
            if goesOn(after: answer) {
                challenge = (answer, InFlightRequests.key(task))
                observation.noteChallenge(answer, of: task)
            } else {
                instrument.end(observation, of: task, with: answer, handle: handle)
            }
        }
    }

    /// In explicit mode the loader that comes after a challenge is not seen, and the challenge has to do as the end.
    private func goesOn(after answer: RequestAnswer) -> Bool {
        guard answer.error == nil, let response = answer.response, isEveryLoaderSeen else {
            return false
        }
        return AuthenticationChallenge.isMade(by: response)
    }

    private var isEveryLoaderSeen: Bool {
        observation.start.scope != nil || !CaptureSwitch.isExplicit.load(ordering: .relaxed)
    }

    /// libcurl is about to write a request, the first or that of a redirect. Always 0, which lets it.
    private func requestIsWritten() -> Int32 {
        guard observation.isOfThisProcess else { return 0 }
        AgentCost.measure {
            let (context, recorder) = (observation.noteRequestWritten(), instrument.recorder)
            guard let context, recorder.allowance.traces else { return }
            if recorder.settings.propagates { handle?.addTraceHeaders(context) }
            if sendsBody { awaitHead() }
        }
        return 0
    }

    private func awaitHead() {
        (written, head) = (Clock.monotonic(), nil)
        handle?.callAtHead(Unmanaged.passUnretained(self).toOpaque()) { observer in
            guard let observer else { return }
            Unmanaged<RequestObserver>.fromOpaque(observer).takeUnretainedValue().head = Clock.monotonic()
        }
    }

    /// Nanoseconds from the request written to the head of its answer, where that was awaited and came.
    private var firstByte: UInt64? {
        guard let written, let head else { return nil }
        return head &- written
    }
}
#endif
