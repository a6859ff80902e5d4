#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import Synchronization

/// Puts an observer on every request of every session by running code ahead of three methods: the native loader's
/// `startLoading`, where the observer takes the client's place, its `stopLoading`, which may come first, and the tasks'
/// `resume`, where a request begins for its caller. Nothing is written before everything was found as expected; switching
/// off is a flag, not an un-patch.
enum AutomaticCapture {
    enum Failure: String, Error {
        case noNativeLoader = "Foundation's HTTP loader was not found"
        case noStartLoading = "the slot of URLProtocol.startLoading was not found"
        case noStopLoading = "the slot of URLProtocol.stopLoading was not found"
        case noResume = "the slot of URLSessionTask.resume was not found"
        case notWritten = "the hook could not be installed"
    }

    /// Hooks the process once; later calls return the first one's outcome. Thread-safe.
    static func install() throws(Failure) {
        try outcome.withLock { outcome in
            let result = outcome ?? attempt()
            outcome = result
            return result
        }.get()
    }

    private static let outcome = Mutex<Result<Void, Failure>?>(nil)

    private static func attempt() -> Result<Void, Failure> {
        guard let loader = NativeLoader.type else { return .failure(.noNativeLoader) }
        guard
            let startLoading = VTable.index(
                plain: PlainProtocol.self, overriding: StartingProtocol.self, base: URLProtocol.self)
        else { return .failure(.noStartLoading) }
        guard
            let stopLoading = VTable.index(
                plain: PlainProtocol.self, overriding: StoppingProtocol.self, base: URLProtocol.self)
        else { return .failure(.noStopLoading) }
        guard
            let resume = VTable.index(plain: PlainTask.self, overriding: OverridingTask.self, base: URLSessionTask.self)
        else { return .failure(.noResume) }

        let tasks: [AnyClass] = [URLSessionDataTask.self, URLSessionUploadTask.self, URLSessionDownloadTask.self]
        guard hook(MARTLET_HOOK_RESUME, tasks, at: resume, before: resumed),
            hook(MARTLET_HOOK_STOP_LOADING, [loader], at: stopLoading, before: stopsLoading),
            hook(MARTLET_HOOK_START_LOADING, [loader], at: startLoading, before: startsLoading)
        else { return .failure(.notWritten) }
        return .success(())
    }

    private static func hook(
        _ hook: martlet_hook, _ types: [AnyClass], at index: Int, before: martlet_before
    ) -> Bool {
        let slots: [VTable.Slot?] = types.compactMap { VTable.slot(of: $0, at: index) }
        return slots.count == types.count && martlet_install(hook, slots, slots.count, before) == MARTLET_INSTALLED
    }

    /// In a scope every session is seen, whatever mode the process's agent has.
    private static func isInForce(in scope: CaptureScope?) -> Bool {
        scope != nil || (Capture.isOn.load(ordering: .relaxed) && !Capture.isExplicit.load(ordering: .relaxed))
    }

    /// On the caller's thread. Foundation lets a task that was cancelled before rest.
    private static let resumed: martlet_before = { object in
        guard isInForce(in: Capture.scope), let object else { return }
        AgentCost.measure {
            switch Unmanaged<URLSessionTask>.fromOpaque(object).takeUnretainedValue().state {
            case .canceling, .completed: break
            default: InFlightRequests.resume(object)
            }
        }
    }

    /// On the session's queue. Runs again when a suspended task is resumed: one observer a loader.
    private static let startsLoading: martlet_before = { observe($0) { _ in true } }

    /// On the session's queue. A cancel comes ahead of the start where both are called at the same moment, and instead of
    /// it where a challenge was answered just before. What was never resumed never began.
    private static let stopsLoading: martlet_before = { loader in
        observe(loader) { $0.error != nil && InFlightRequests.knows(Unmanaged.passUnretained($0).toOpaque()) }
    }

    private static func observe(_ object: UnsafeMutableRawPointer?, where isDue: (URLSessionTask) -> Bool) {
        guard Capture.isActive, let object else { return }
        let loader = Unmanaged<URLProtocol>.fromOpaque(object).takeUnretainedValue()
        guard let task = loader.task else { return }
        let key = Unmanaged.passUnretained(task).toOpaque()
        let scope = InFlightRequests.scope(of: key)
        if scope != nil, scope?.recorder == nil { InFlightRequests.remove(key) }
        guard isInForce(in: scope), let recorder = Capture.recorder(in: scope), let client = loader.client,
            !(client is RequestObserver), isDue(task)
        else { return }
        _ = AgentCost.measure { RequestInstrument(recorder: recorder).observe(loader, of: task, for: client) }
    }
}

// Never instantiated: only their metadata is compared.
private class PlainProtocol: URLProtocol {}
private final class StartingProtocol: URLProtocol { override func startLoading() {} }
private final class StoppingProtocol: URLProtocol { override func stopLoading() {} }
private class PlainTask: URLSessionTask, @unchecked Sendable {}
private final class OverridingTask: URLSessionTask, @unchecked Sendable { override func resume() {} }
#endif
