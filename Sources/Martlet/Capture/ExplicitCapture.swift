#if os(Linux)
import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
    /// Lets Martlet see the requests of sessions made with this configuration where it does not see every session by
    /// itself (`MARTLET_CAPTURE=explicit`, or when the check at start failed; `status.captureMode` tells).
    ///
    /// In automatic mode this changes nothing, so it can always be called. Call it before the session is made: a session
    /// copies its configuration. A request is passed on to the session's own loader unchanged; protocols of the service's
    /// own are asked before Martlet, as they were asked before that loader. Not thread-safe, as the configuration itself
    /// is not.
    public func captureWithMartlet() {
        var classes = protocolClasses ?? []
        guard !classes.contains(where: { $0 == ObservedProtocol.self }) else { return }
        let native = classes.firstIndex { $0 == NativeLoader.type } ?? classes.endIndex
        classes.insert(ObservedProtocol.self, at: native)
        protocolClasses = classes
    }
}

/// Lets the native loader load its task, with an observer in front of the task's client. `URLSession` calls it on one
/// serial queue, the task's.
final class ObservedProtocol: URLProtocol {
    private var loader: URLProtocol?
    private var observer: RequestObserver?

    /// Called under a lock of Foundation's: it reads flags and nothing else.
    override static func canInit(with request: URLRequest) -> Bool {
        guard CaptureSwitch.isExplicit.load(ordering: .relaxed), CaptureSwitch.isOn.load(ordering: .relaxed),
            let scheme = request.url?.scheme
        else { return false }
        // As Foundation's loader compares it: what that does not load is not to be loaded because of the agent.
        return scheme == "http" || scheme == "https"
    }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// A cancel may have come first, and its task has its error then and has ended. Foundation's loader would have been told;
    /// one that is made now would send the request, and then end the process because nobody knows its task.
    override func startLoading() {
        if loader == nil { makeLoader() }
        if task?.error == nil { loader?.startLoading() }
    }

    /// A suspended task stops too, and may be resumed; a cancelled one tells only its own protocol.
    override func stopLoading() {
        if task?.state == .canceling { observer?.end(task, error: URLError(.cancelled)) }
        loader?.stopLoading()
    }

    private func makeLoader() {
        guard let type = NativeLoader.type, let task, let client else { return }
        let loader = type.init(task: task, cachedResponse: cachedResponse, client: client)
        self.loader = loader
        // In a scope the native loader is seen by itself.
        guard InFlightRequests.scope(of: task) == nil,
            let recorder = CaptureSwitch.recorder
        else { return }
        observer = AgentCost.measure { RequestInstrument(recorder: recorder).observe(loader, of: task, for: client) }
    }
}
#endif
