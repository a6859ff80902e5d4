#if os(Linux)
import Foundation
import FoundationNetworking

/// A protocol that lets the native loader load its task, and observes the calls to the task's client. `URLSession`
/// calls it on the task's serial queue.
final class ObservedProtocol: URLProtocol {
    private var loader: URLProtocol?
    private var observer: RequestObserver?

    /// Returns whether the request is captured explicitly. Foundation calls it while it holds a lock, so it only reads
    /// flags.
    override static func canInit(with request: URLRequest) -> Bool {
        guard CaptureSwitch.isExplicit.load(ordering: .relaxed), CaptureSwitch.isOn.load(ordering: .relaxed),
            let scheme = request.url?.scheme
        else { return false }
        // Foundation's loader compares the scheme in this way. The agent must not make Foundation load a request that
        // it would otherwise not load.
        return scheme == "http" || scheme == "https"
    }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Starts the native loader, unless the task was cancelled before and so has ended with an error. A loader that
    /// starts after the cancel would send the request and then crash the process, because its session no longer knows
    /// the task.
    override func startLoading() {
        if loader == nil { makeLoader() }
        if task?.error == nil, observer?.mayStart() ?? true { loader?.startLoading() }
    }

    /// Stops the native loader. For a cancelled task this is the only call, so the observer records the end here. A
    /// suspended task stops its loader too, and may be resumed.
    override func stopLoading() {
        if task?.state == .canceling { observer?.end(task, error: URLError(.cancelled)) }
        loader?.stopLoading()
    }

    private func makeLoader() {
        guard let type = NativeLoader.type, let task, let client else { return }
        let loader = type.init(task: task, cachedResponse: cachedResponse, client: client)
        self.loader = loader
        // If the task began in a scope, the hook captures the native loader.
        guard InFlightRequests.scope(of: task)?.hasEnded ?? true,
            let recorder = CaptureSwitch.recorder
        else { return }
        observer = AgentCost.measure { RequestInstrument(recorder: recorder).observe(loader, of: task, for: client) }
    }
}
#endif
