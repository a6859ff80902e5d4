import Foundation
import Synchronization

/// The recorder of the process's agent, and the switch that every instrument reads. A process has one of each, because
/// a hook in a class applies to the whole process.
enum CaptureSwitch {
    /// Whether capture is on. Read at the start and the end of every request. While it is off, requests are not
    /// recorded and run unchanged.
    static let isOn = Atomic<Bool>(false)

    /// Whether sessions are captured one by one. Only one of the two modes applies, so that no request is captured
    /// twice.
    static let isExplicit = Atomic<Bool>(false)

    private static let connected = ProcessLock<Recorder?>(nil)
    private static let faultCount = Atomic<Int>(0)
    private static let ownSwitch = ProcessLock(CaptureSwitchState.off)
    /// Whether the service switched capture off. The agent of a forked child follows it too.
    private static let isOffByService = Atomic<Bool>(false)

    /// The number of open scopes. While it is 0, requests need not look for their scope.
    static let openScopes = Atomic<Int>(0)

    /// The scope of the current Swift task; `nil` outside any scope.
    static var scope: CaptureScope? {
        guard openScopes.load(ordering: .relaxed) > 0 else { return nil }
        ForkedChild.restartIfForked()
        return openScopes.load(ordering: .relaxed) > 0 ? CaptureScope.current : nil
    }

    /// Whether an agent may capture requests: the process's agent, or an in-memory one.
    static var isActive: Bool {
        ForkedChild.restartIfForked()
        return isOn.load(ordering: .relaxed) || openScopes.load(ordering: .relaxed) > 0
    }

    /// The recorder of the process's agent; `nil` while no agent runs, or capture is off.
    static var recorder: Recorder? {
        ForkedChild.restartIfForked()
        return isOn.load(ordering: .relaxed) ? connected.withLock { $0 } : nil
    }

    /// Returns the recorder for requests and spans that began in a scope, or outside any scope for `nil`.
    static func recorder(in scope: CaptureScope?) -> Recorder? {
        guard let scope else { return recorder }
        return scope.recorder
    }

    static func isConnected(to recorder: Recorder) -> Bool { connected.withLock { $0 === recorder } }

    static func connect(to recorder: Recorder) {
        replace(by: recorder)
        switchOn()
    }

    /// Connects a forked child's recorder. Capture stays off if the service had switched it off in the parent. The
    /// child starts with no scopes, because open scopes belong to the parent.
    static func connectForkedChild(_ recorder: Recorder) {
        openScopes.store(0, ordering: .relaxed)
        isOn.store(false, ordering: .relaxed)
        if !isOffByService.load(ordering: .relaxed) { return connect(to: recorder) }
        replace(by: recorder)
        switchOff()
    }

    /// Replaces the connected recorder. The former one stops measuring the capture gap until it is connected again.
    private static func replace(by recorder: Recorder?) {
        let former = connected.withLock { connected in
            defer { connected = recorder }
            return connected
        }
        former?.captureGap.end()
    }

    // MARK: The switch

    static var state: CaptureSwitchState { ownSwitch.withLock { $0 } }

    /// The number of times that capture was switched on, by the service or by an agent that connected.
    static let switches = Atomic<Int>(0)

    /// Switches capture on, for the service or for an agent that connects. The caller must have made `URLSession`'s
    /// capture forget the tasks that wait for their loader.
    static func switchOn() {
        switches.wrappingAdd(1, ordering: .relaxed)
        faultCount.store(0, ordering: .relaxed)
        change { $0 = .on }
    }

    /// Switches capture off, for the service or for an agent that ends.
    static func switchOff() { change { $0 = .off } }

    /// Pauses capture because the agent decided to, until ``resume()``.
    ///
    /// - Parameter reason: a text for `status`, the log and the collector.
    static func pause(because reason: String) { change { $0.pause(because: reason) } }

    /// Ends the agent's pause. Has no effect if capture was switched since. The caller must have forgotten waiting
    /// tasks, as before ``switchOn()``.
    static func resume() {
        change { $0.resume() }
    }

    private static func change(_ change: (inout CaptureSwitchState) -> Void) {
        ownSwitch.withLock { state in
            change(&state)
            isOn.store(state.isOn, ordering: .releasing)
            isOffByService.store(state == .off, ordering: .relaxed)
            // An in-memory agent does not report its capture gap.
            guard let recorder = connected.withLock({ $0 }), recorder.recordedRequests == nil else { return }
            if state.isOn { recorder.captureGap.end() } else { recorder.captureGap.begin() }
        }
    }

    /// Switches capture off because the agent cannot work, until the service switches it on.
    static func fail(because reason: String) { change { $0.fail(because: reason) } }

    /// The number of internal errors since capture was switched on.
    static var faults: Int { faultCount.load(ordering: .relaxed) }

    /// Counts an internal error, and switches capture off at ``MartletLimits/faults`` errors. Never call it while
    /// holding a lock.
    static func note(_ fault: CaptureFault) {
        let count = faultCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard count == MartletLimits.faults else { return }
        fail(because: "too many internal errors, the last: \(fault.rawValue)")
    }

    static func disconnect() {
        replace(by: nil)
        switchOff()
    }
}

/// The state of capture: on, or switched off by the service or by the agent. The service's decision takes precedence. A
/// pure value.
enum CaptureSwitchState: Sendable, Equatable {
    case on
    /// Switched off by the service, until the service switches it on.
    case off
    /// Paused by the agent because of its cost, until the agent resumes.
    case paused(String)
    /// Switched off by the agent because it cannot work or had internal errors, until the service switches it on.
    case failed(String)

    var isOn: Bool { self == .on }

    /// Why the agent switched capture off; `nil` if it did not.
    var reason: String? {
        switch self {
        case .on, .off: nil
        case .paused(let reason), .failed(let reason): reason
        }
    }

    mutating func pause(because reason: String) {
        if isOn { self = .paused(reason) }
    }

    mutating func resume() {
        if case .paused = self { self = .on }
    }

    mutating func fail(because reason: String) {
        if self != .off { self = .failed(reason) }
    }
}

/// A condition that held when capture was installed and no longer holds. The service does not notice; at the tenth
/// fault the agent switches capture off.
enum CaptureFault: String {
    case noTask = "a loader had no task at its end"
    case noHandle = "a loader had no libcurl handle"
    case noHeaders = "a transfer had no list of headers"
}

/// The scope of an in-memory agent: requests and spans that begin in it belong to that agent. Thread-safe.
final class CaptureScope: Sendable {
    /// The scope of the current Swift task; `nil` outside any scope. ``CaptureSwitch/scope`` is cheaper if no scope is
    /// open.
    @TaskLocal static var current: CaptureScope?

    private let state = Lock(State())

    private struct State {
        var recorder: Recorder?
        var isOn = true
        var hasEnded = false
    }

    /// The recorder of the scope's agent; `nil` before the agent runs, after its end and while it is switched off.
    /// Requests and spans in the scope are not captured while it is `nil`.
    var recorder: Recorder? { state.withLock { $0.isOn ? $0.recorder : nil } }

    /// Whether the scope has been closed: no request can begin in it any more.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    var isOn: Bool {
        get { state.withLock(\.isOn) }
        set { state.withLock { $0.isOn = newValue } }
    }

    /// - Parameter recorder: the recorder of the scope's agent; `nil` if that agent is switched off. The scope captures
    ///   nothing then.
    func open(for recorder: Recorder?) {
        state.withLock { $0.recorder = recorder }
        CaptureSwitch.openScopes.add(1, ordering: .relaxed)
    }

    func close() {
        state.withLock { ($0.recorder, $0.hasEnded) = (nil, true) }
        CaptureSwitch.openScopes.subtract(1, ordering: .relaxed)
    }
}

/// The current capture mode, and the reason if it is not the configured mode.
struct EffectiveCapture: Sendable {
    var mode: CaptureMode
    var reason: String?
    /// The limits of capture in this process, one sentence each.
    var limits: [String] = []
    /// Why no rule can change requests in this process; `nil` if rules can.
    var rulesLimit: String?
    /// Returns a sentence about the hooks that requests may not reach: another library replaced them, or Foundation does
    /// not call them; `nil` if there is no such hook.
    var missingHooks: @Sendable () -> String? = { nil }

    static let switchedOff = EffectiveCapture(mode: .off, reason: "MARTLET_ENABLED is false")

    /// Returns the current mode: the agent may have switched itself off, or may do less than it can.
    func now(restrictedBy recorder: Recorder) -> EffectiveCapture {
        if let reason = CaptureSwitch.state.reason {
            return EffectiveCapture(mode: .off, reason: reason, limits: limits)
        }
        let reasons = [reason, missingHooks(), recorder.restriction].compactMap(\.self)
        return EffectiveCapture(
            mode: mode, reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "), limits: limits)
    }
}

/// The sessions of `URLSession` whose requests the agent captures.
public enum CaptureMode: String, Sendable {
    /// Every session of the process.
    case automatic
    /// Sessions whose configuration was passed through `captureWithMartlet()`.
    case explicit
    /// No session.
    case off
}
