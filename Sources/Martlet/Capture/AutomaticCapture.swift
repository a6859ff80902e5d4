#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import Synchronization

/// Captures every request of every session with code that runs before three methods: the native loader's
/// `startLoading`, where the observer becomes the loader's client; its `stopLoading`, which may come first; and the
/// tasks' `resume`, where a request begins for its caller. The agent writes no hook before it has found every slot, and
/// removes all hooks if one is not called. Switching capture off sets a flag and leaves the hooks in their slots.
enum AutomaticCapture {
    enum Failure: String, Error {
        case noNativeLoader = "Foundation's HTTP loader was not found"
        case noStartLoading = "the slot of URLProtocol.startLoading was not found"
        case noStopLoading = "the slot of URLProtocol.stopLoading was not found"
        case noResume = "the slot of URLSessionTask.resume was not found"
        case notWritten = "the hooks could not be installed"
        case notCalled = "a hook was installed but is not called"
    }

    /// Installs the hooks once in a process. Later calls return or throw the outcome of the first. Thread-safe.
    static func install() throws(Failure) {
        try outcome.withLock { outcome in
            let result = outcome ?? attempt()
            outcome = result
            return result
        }.get()
    }

    /// A sentence that names the hooks that are no longer in their slots; `nil` if all are. A library that replaced a
    /// hook may or may not still call it. Thread-safe.
    static var missingHooks: String? {
        let methods = [
            (MARTLET_HOOK_START_LOADING, "URLProtocol.startLoading"),
            (MARTLET_HOOK_STOP_LOADING, "URLProtocol.stopLoading"), (MARTLET_HOOK_RESUME, "URLSessionTask.resume"),
        ]
        let lost = methods.filter { !martlet_is_in_place($0.0) }.map(\.1)
        guard !lost.isEmpty else { return nil }
        return "requests may be missed: the hook was replaced in \(lost.joined(separator: ", "))"
    }

    private static let outcome = Lock<Result<Void, Failure>?>(nil)

    /// Installs the hooks. Call it only while none is installed.
    static func attempt() -> Result<Void, Failure> {
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
        let methods = [
            method(of: [loader], at: startLoading), method(of: [loader], at: stopLoading),
            method(of: tasks, at: resume),
        ].compactMap(\.self)
        guard methods.count == MARTLET_HOOKS, martlet_install(methods, HookCheck.noteCall) == MARTLET_INSTALLED else {
            return .failure(.notWritten)
        }
        guard HookCheck.allAreCalled(loader: loader) else {
            martlet_remove()
            return .failure(.notCalled)
        }
        martlet_change(before)
        return .success(())
    }

    /// Returns the method's slots in the classes; `nil` where a class has no slot at `index`, or the slots exceed
    /// `MARTLET_SLOTS`.
    private static func method(of types: [AnyClass], at index: Int) -> martlet_method? {
        let slots = types.compactMap { VTable.slot(of: $0, at: index) }
        guard slots.count == types.count, slots.count <= MARTLET_SLOTS else { return nil }
        var method = martlet_method()
        method.count = slots.count
        withUnsafeMutableBytes(of: &method.slots) {
            _ = $0.bindMemory(to: VTable.Slot.self).update(fromContentsOf: slots)
        }
        return method
    }

    private static let before: martlet_before = { hook, object in
        guard CaptureSwitch.isActive, let object else { return true }
        switch hook {
        case MARTLET_HOOK_RESUME: resumed(Unmanaged.fromOpaque(object).takeUnretainedValue())
        case MARTLET_HOOK_START_LOADING: return startsLoading(Unmanaged.fromOpaque(object).takeUnretainedValue())
        default: stopsLoading(Unmanaged.fromOpaque(object).takeUnretainedValue())
        }
        return true
    }

    /// Returns whether automatic capture applies. In a scope it applies to every session, regardless of the mode of the
    /// process's agent.
    private static func isInForce(in scope: CaptureScope?) -> Bool {
        scope != nil
            || (CaptureSwitch.isOn.load(ordering: .relaxed) && !CaptureSwitch.isExplicit.load(ordering: .relaxed))
    }

    /// Notes that a task is resumed, on the caller's thread. Foundation does not start a task that was cancelled before.
    private static func resumed(_ task: URLSessionTask) {
        // After a challenge, Foundation resumes the task on its own queue, outside the scope in which it began.
        guard isInForce(in: CaptureSwitch.scope ?? InFlightRequests.scope(of: task)) else { return }
        AgentCost.measure {
            guard task.state == .suspended, let leftOver = InFlightRequests.resume(task) else { return }
            if let answer = leftOver.silentEnd, let recorder = CaptureSwitch.recorder(in: leftOver.start.scope) {
                RequestInstrument(recorder: recorder).recordSilentEnd(of: leftOver, with: answer)
            }
        }
    }

    /// Observes a loader that starts, on the session's queue. It runs again when a suspended task is resumed, but a loader
    /// gets only one observer.
    ///
    /// - Returns: whether the loader starts now. A rule may delay the start.
    private static func startsLoading(_ loader: URLProtocol) -> Bool {
        observe(loader) { _ in true }?.mayStart() ?? true
    }

    /// Observes a loader that is stopped before its start, on the session's queue. That happens if the task is
    /// cancelled at the moment it is resumed, or right after an answered challenge. A task that was never resumed has
    /// no request.
    private static func stopsLoading(_ loader: URLProtocol) {
        _ = observe(loader) { $0.error != nil && InFlightRequests.knows($0) }
    }

    /// Returns the loader's observer, and makes one if `isDue` returns `true`; `nil` if the loader has none.
    private static func observe(_ loader: URLProtocol, where isDue: (URLSessionTask) -> Bool) -> RequestObserver? {
        guard let task = loader.task else { return nil }
        let scope = InFlightRequests.scope(of: task)
        if scope != nil, scope?.recorder == nil { InFlightRequests.remove(task) }
        guard isInForce(in: scope), let recorder = CaptureSwitch.recorder(in: scope), let client = loader.client else {
            return nil
        }
        if let observer = client as? RequestObserver { return observer }
        guard isDue(task) else { return nil }
        return AgentCost.measure { RequestInstrument(recorder: recorder).observe(loader, of: task, for: client) }
    }
}

// These classes are never instantiated; only their metadata is compared.
private class PlainProtocol: URLProtocol {}
private final class StartingProtocol: URLProtocol { override func startLoading() {} }
private final class StoppingProtocol: URLProtocol { override func stopLoading() {} }
private class PlainTask: URLSessionTask, @unchecked Sendable {}
private final class OverridingTask: URLSessionTask, @unchecked Sendable { override func resume() {} }

/// Checks that the hooks are called: it calls each hooked method once and checks that every call was noted. It makes no
/// session, because the first session of a process fixes the protocols of `URLSession.shared`. It makes no request and
/// sends nothing.
///
/// The calls go through the vtable, as Foundation's do: the compiler cannot bind a method that any module may override.
/// The calls have no side effects. A task that is suspended once more often than it is resumed stays suspended, and a
/// loader that is stopped before its start stays idle, like the loader of a task that was cancelled at once.
enum HookCheck {
    private struct Call: Hashable {
        let hook: UInt32
        /// The address of the task or loader.
        let object: UInt
    }

    private static let calls = Lock<Set<Call>>([])

    /// The function that runs before the hooked methods during the check. It notes each call.
    static let noteCall: martlet_before = { hook, object in
        let call = Call(hook: hook.rawValue, object: UInt(bitPattern: object))
        _ = calls.withLock { $0.insert(call) }
        return true
    }

    static func allAreCalled(loader type: URLProtocol.Type) -> Bool {
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

/// Finds a method's slot in a class, without symbol names.
///
/// One of two subclasses overrides the method and the other does not, so their vtables differ in exactly one word. Every
/// subclass of the same base has the method at the same index. Without an Objective-C runtime a class's metadata is seven
/// header words and then the vtable. The two 32-bit halves of word 4 are the metadata's size and the offset of the address
/// point in it (Swift ABI, "TypeMetadata"). This type reads words of live metadata and writes none.
enum VTable {
    typealias Slot = UnsafeMutablePointer<UnsafeMutableRawPointer?>

    /// Returns the method's index. `nil` unless the two subclasses differ in exactly one word, and the plain one has
    /// the base's word there.
    static func index(plain: AnyClass, overriding: AnyClass, base: AnyClass) -> Int? {
        let differing = (headerWords..<wordCount(of: base)).filter {
            words(plain)[$0] != words(overriding)[$0] && words(plain)[$0] == words(base)[$0]
        }
        return differing.count == 1 ? differing.first : nil
    }

    /// Returns the slot in which a class keeps the method at `index`; `nil` past the end of its metadata.
    static func slot(of type: AnyClass, at index: Int) -> Slot? {
        index < wordCount(of: type) ? words(type) + index : nil
    }

    private static let headerWords = 7

    private static func words(_ type: AnyClass) -> Slot {
        unsafeBitCast(type, to: Slot.self)
    }

    private static func wordCount(of type: AnyClass) -> Int {
        let metadata = UnsafeRawPointer(words(type))
        let size = metadata.load(fromByteOffset: 32, as: UInt32.self)
        let addressPoint = metadata.load(fromByteOffset: 36, as: UInt32.self)
        return size > addressPoint ? Int(size - addressPoint) / MemoryLayout<UnsafeRawPointer>.size : 0
    }
}
#endif
