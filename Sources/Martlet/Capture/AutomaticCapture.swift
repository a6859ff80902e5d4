#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import Synchronization

/// Captures every request of every session with code that runs before three methods: the native loader's
/// `startLoading`, where the observer becomes the loader's client; its `stopLoading`, which may come first; and the
/// tasks' `resume`, where a request begins for its caller. The agent writes no hook before it has found every slot. It
/// calls none of the three methods itself (``HookCalls``). Switching capture off sets a flag and leaves the hooks in their
/// slots.
enum AutomaticCapture {
    enum Failure: String, Error {
        case noNativeLoader = "Foundation's HTTP loader was not found"
        case noStartLoading = "the slot of URLProtocol.startLoading was not found"
        case noStopLoading = "the slot of URLProtocol.stopLoading was not found"
        case noResume = "the slot of URLSessionTask.resume was not found"
        case notWritten = "the hooks could not be installed"
        case noMaps = "the hooks could not be installed, because /proc/self/maps cannot be read: mount /proc"
    }

    /// Installs the hooks once in a process. Later calls return or throw the outcome of the first. Thread-safe.
    static func install() throws(Failure) {
        try outcome.withLock { outcome in
            let result = outcome ?? attempt()
            outcome = result
            return result
        }.get()
    }

    /// Returns a sentence about the hooks that requests may not reach; `nil` if there is no such hook. Either another
    /// library replaced the hook, and may or may not still call it, or Foundation does not call it. Thread-safe.
    static func missingHooks(at now: UInt64 = Clock.monotonic()) -> String? {
        let methods = [
            (MARTLET_HOOK_START_LOADING, "URLProtocol.startLoading"),
            (MARTLET_HOOK_STOP_LOADING, "URLProtocol.stopLoading"), (MARTLET_HOOK_RESUME, "URLSessionTask.resume"),
        ]
        let lost = methods.filter { !martlet_is_in_place($0.0) }.map(\.1)
        guard !lost.isEmpty else { return HookCalls.noted.doubt(at: now) }
        return "requests may be missed: the hook was replaced in \(lost.joined(separator: ", "))"
    }

    private static let outcome = Lock<Result<Void, Failure>?>(nil)

    /// Installs the hooks. Call it only while none is installed.
    static func attempt(loader: URLProtocol.Type? = NativeLoader.type) -> Result<Void, Failure> {
        guard let loader else { return .failure(.noNativeLoader) }
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
        HookCalls.forget()
        guard methods.count == MARTLET_HOOKS else { return .failure(.notWritten) }
        switch martlet_install(methods, before) {
        case MARTLET_INSTALLED: return .success(())
        case MARTLET_NO_MAPS: return .failure(.noMaps)
        default: return .failure(.notWritten)
        }
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
        HookCalls.note(hook)
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

/// The hooks that were called since their installation. Only the service's own requests show whether Foundation calls a
/// hook. The agent makes no calls to try it: a later Foundation may have a `fatalError` in a hooked method, which would end
/// every service at its start.
struct HookCalls: Sendable {
    /// The time of the first `resume`, by the monotonic clock; 0 before it.
    var firstResume: UInt64
    /// Whether a loader has started.
    var hasStartedLoading: Bool

    private static let firstResume = Atomic<UInt64>(0)
    private static let hasStartedLoading = Atomic<Bool>(false)

    /// The calls in this process. Thread-safe.
    static var noted: HookCalls {
        // A loader starts after its `resume`. So whoever sees the start must see the `resume`, too.
        let hasStartedLoading = hasStartedLoading.load(ordering: .acquiring)
        return HookCalls(firstResume: firstResume.load(ordering: .relaxed), hasStartedLoading: hasStartedLoading)
    }

    /// Notes a call. After the first calls it only reads, so threads do not share a written cache line. Thread-safe.
    static func note(_ hook: martlet_hook) {
        switch hook {
        case MARTLET_HOOK_RESUME:
            if firstResume.load(ordering: .relaxed) == 0 { firstResume.store(Clock.monotonic(), ordering: .relaxed) }
        case MARTLET_HOOK_START_LOADING:
            if !hasStartedLoading.load(ordering: .relaxed) { hasStartedLoading.store(true, ordering: .releasing) }
        default: break
        }
    }

    static func forget() {
        firstResume.store(0, ordering: .relaxed)
        hasStartedLoading.store(false, ordering: .relaxed)
    }

    /// Returns a sentence about a hook that Foundation does not seem to call; `nil` for none, and before the first request.
    /// A request reaches `startLoading` right after `resume`, unless one of the service's own protocols takes it.
    func doubt(at now: UInt64) -> String? {
        let isWaiting = firstResume == 0 || now &- firstResume < InFlightRequests.maxTimeToLoader.nanoseconds
        switch (hasStartedLoading, firstResume) {
        case (true, 0):
            return
                "requests are captured without their caller's trace and without their wait: URLSession does not call "
                + "the hook in URLSessionTask.resume"
        case (false, _) where !isWaiting:
            return
                "no request has reached the hook in URLProtocol.startLoading: either all of them are answered by the "
                + "service's own protocols, or this version of Foundation needs MARTLET_CAPTURE=explicit and "
                + "captureWithMartlet() on the configuration of each session"
        default: return nil
        }
    }
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
