#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import Synchronization

/// Shows that the hooks are called, by calling each of the hooked methods once. There is no session, for the first one of
/// a process settles which protocols `URLSession.shared` has: no request is made, and nothing is sent.
///
/// The calls go through the vtable as Foundation's own do, for a method that any module may override cannot be bound in
/// another way. What runs behind the hooks is harmless: a task that is suspended once more than it is resumed stays where
/// it is, and a loader that is stopped before it starts rests, as that of a task that was cancelled at once does.
enum HookProof {
    private struct Call: Hashable {
        let hook: UInt32
        /// Its address.
        let object: UInt
    }

    private static let calls = Lock<Set<Call>>([])

    /// To be what runs ahead of the methods meanwhile.
    static let noteCall: martlet_before = { hook, object in
        let call = Call(hook: hook.rawValue, object: UInt(bitPattern: object))
        _ = calls.withLock { $0.insert(call) }
    }

    static func areCalled(loader type: URLProtocol.Type) -> Bool {
        defer { calls.withLock { $0 = [] } }
        guard let url = URL(string: "http://127.0.0.1/") else { return false }
        let loader = type.init(request: URLRequest(url: url), cachedResponse: nil, client: nil)
        loader.task = CancelledTask()
        let tasks = [URLSessionDataTask(), URLSessionUploadTask(), URLSessionDownloadTask()]
        for task in tasks { pause(task) }
        overtake(loader)
        let expected =
            tasks.map { call(MARTLET_HOOK_RESUME, $0) }
            + [call(MARTLET_HOOK_STOP_LOADING, loader), call(MARTLET_HOOK_START_LOADING, loader)]
        return withExtendedLifetime((tasks, loader)) { calls.withLock { $0.isSuperset(of: expected) } }
    }

    private static func call(_ hook: martlet_hook, _ object: AnyObject) -> Call {
        Call(hook: hook.rawValue, object: UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
    }

    /// Where the class of the object is not known, so that no call is bound to it.
    @inline(never) private static func pause(_ task: URLSessionTask) {
        task.suspend()
        task.resume()
    }

    @inline(never) private static func overtake(_ loader: URLProtocol) {
        loader.stopLoading()
        loader.startLoading()
    }
}

/// One that was cancelled ahead of its loader's start.
private final class CancelledTask: URLSessionDataTask, @unchecked Sendable {
    override var state: URLSessionTask.State { .canceling }
    override var error: (any Error)? { URLError(.cancelled) }
}
#endif
