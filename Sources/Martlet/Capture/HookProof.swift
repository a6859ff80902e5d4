#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import Synchronization

/// A proof that the hooks are called: it calls each hooked method once and checks that every call was noted. It makes no
/// session, because the first session of a process fixes the protocols of `URLSession.shared`. It makes no request and
/// sends nothing.
///
/// The calls go through the vtable, as Foundation's own do: the compiler cannot bind a method that any module may override
/// in another way. The hooked methods do no harm here. A task that is suspended once more often than it is resumed stays
/// suspended, and a loader that is stopped before its start stays idle, like the loader of a task that was cancelled at
/// once.
enum HookProof {
    private struct Call: Hashable {
        let hook: UInt32
        /// The address of the task or loader.
        let object: UInt
    }

    private static let calls = Lock<Set<Call>>([])

    /// The function that runs ahead of the hooked methods during the proof. It notes each call.
    static let noteCall: martlet_before = { hook, object in
        let call = Call(hook: hook.rawValue, object: UInt(bitPattern: object))
        _ = calls.withLock { $0.insert(call) }
        return true
    }

    static func areCalled(loader type: URLProtocol.Type) -> Bool {
        defer { calls.withLock { $0 = [] } }
        guard let url = URL(string: "http://127.0.0.1/") else { return false }
        let loader = type.init(request: URLRequest(url: url), cachedResponse: nil, client: nil)
        loader.task = CancelledTask()
        let tasks = [URLSessionDataTask(), URLSessionUploadTask(), URLSessionDownloadTask()]
        for task in tasks { suspendAndResume(task) }
        stopThenStart(loader)
        let expected =
            tasks.map { call(MARTLET_HOOK_RESUME, $0) }
            + [call(MARTLET_HOOK_STOP_LOADING, loader), call(MARTLET_HOOK_START_LOADING, loader)]
        return withExtendedLifetime((tasks, loader)) { calls.withLock { $0.isSuperset(of: expected) } }
    }

    private static func call(_ hook: martlet_hook, _ object: AnyObject) -> Call {
        Call(hook: hook.rawValue, object: UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    }

    /// Suspends and resumes a task. The function is not inlined, so that the compiler does not know the task's class and
    /// calls through the vtable.
    @inline(never) private static func suspendAndResume(_ task: URLSessionTask) {
        task.suspend()
        task.resume()
    }

    @inline(never) private static func stopThenStart(_ loader: URLProtocol) {
        loader.stopLoading()
        loader.startLoading()
    }
}

/// A task that was cancelled before its loader started.
private final class CancelledTask: URLSessionDataTask, @unchecked Sendable {
    override var state: URLSessionTask.State { .canceling }
    override var error: (any Error)? { URLError(.cancelled) }
}
#endif
