import Foundation
import Synchronization

/// The recorder of the process's agent, and the switch that every instrument reads. Both exist once in a process, because a
/// hook in a class applies to the whole process.
enum CaptureSwitch {
    /// Whether capture is on, read at the start and the end of every request. While it is off, requests are not recorded
    /// and go on unchanged.
    static let isOn = Atomic<Bool>(false)

    /// Whether sessions are captured one by one. Only one of the two modes is in force, so that no request is captured
    /// twice.
    static let isExplicit = Atomic<Bool>(false)

    private static let connected = ProcessLock<Recorder?>(nil)
    private static let faultCount = Atomic<Int>(0)
    private static let ownSwitch = ProcessLock(CaptureSwitchState.off)
    /// Whether the service switched capture off. The agent of a forked child follows it too.
    private static let isOffByService = Atomic<Bool>(false)

    /// The number of open scopes. While it is 0, no request has to look for its scope.
    static let openScopes = Atomic<Int>(0)

    /// The scope of the current Swift task; `nil` outside any.
    static var scope: CaptureScope? {
        guard openScopes.load(ordering: .relaxed) > 0 else { return nil }
        ForkedChild.restartIfForked()
        return openScopes.load(ordering: .relaxed) > 0 ? CaptureScope.current : nil
    }

    /// Whether an agent may capture requests: the process's, or one in memory.
    static var isActive: Bool {
        ForkedChild.restartIfForked()
        return isOn.load(ordering: .relaxed) || openScopes.load(ordering: .relaxed) > 0
    }

    /// The recorder of the process's agent; `nil` while no agent runs, or capture is off.
    static var recorder: Recorder? {
        ForkedChild.restartIfForked()
        return isOn.load(ordering: .relaxed) ? connected.withLock { $0 } : nil
    }

    /// Returns the recorder for requests and spans that began in a scope, or outside any for `nil`.
    static func recorder(in scope: CaptureScope?) -> Recorder? {
        guard let scope else { return recorder }
        return scope.recorder
    }

    static func isConnected(to recorder: Recorder) -> Bool { connected.withLock { $0 === recorder } }

    static func connect(to recorder: Recorder) {
        replace(by: recorder)
        switchOn()
    }

    /// Connects a forked child's recorder. Capture stays off if the service had switched it off in the parent. Open scopes
    /// are the parent's, so the child starts with none.
    static func connectForkedChild(_ recorder: Recorder) {
        openScopes.store(0, ordering: .relaxed)
        isOn.store(false, ordering: .relaxed)
        if !isOffByService.load(ordering: .relaxed) { return connect(to: recorder) }
        replace(by: recorder)
        switchOff()
    }

    /// Replaces the connected recorder. The former one stops counting time without capture, until it is connected again.
    private static func replace(by recorder: Recorder?) {
        let former = connected.withLock { connected in
            defer { connected = recorder }
            return connected
        }
        former?.unwatched.end()
    }

    // MARK: The switch

    static var state: CaptureSwitchState { ownSwitch.withLock { $0 } }

    /// The number of times that capture was switched on, by the service or by an agent that connected.
    static let switches = Atomic<Int>(0)

    /// Switches capture on, for the service or for an agent that connects. The caller has made `URLSession`'s capture forget
    /// the tasks that wait for their loader.
    static func switchOn() {
        switches.wrappingAdd(1, ordering: .relaxed)
        faultCount.store(0, ordering: .relaxed)
        change { $0 = .on }
    }

    /// Switches capture off, for the service or for an agent that ends.
    static func switchOff() { change { $0 = .off } }

    /// Pauses capture by the agent's own decision, until ``resume()``.
    ///
    /// - Parameter reason: a text for `status`, the log and the collector.
    static func pause(because reason: String) { change { $0.pause(because: reason) } }

    /// Ends the agent's own pause. Has no effect if capture was switched since. The caller has forgotten waiting tasks, as
    /// ahead of ``switchOn()``.
    static func resume() {
        change { $0.resume() }
    }

    private static func change(_ change: (inout CaptureSwitchState) -> Void) {
        ownSwitch.withLock { state in
            change(&state)
            isOn.store(state.isOn, ordering: .releasing)
            isOffByService.store(state == .off, ordering: .relaxed)
            // An agent in memory does not account for its time.
            guard let recorder = connected.withLock({ $0 }), recorder.recordedRequests == nil else { return }
            if state.isOn { recorder.unwatched.end() } else { recorder.unwatched.begin() }
        }
    }

    /// The number of internal errors since capture was switched on.
    static var faults: Int { faultCount.load(ordering: .relaxed) }

    /// Counts an internal error, and switches capture off when they reach ``MartletLimits/faults``. Never called under a
    /// lock.
    static func note(_ fault: CaptureFault) {
        let count = faultCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard count == MartletLimits.faults else { return }
        change { $0.fail(because: "\(count) internal errors, the last: \(fault.rawValue)") }
    }

    static func disconnect() {
        replace(by: nil)
        switchOff()
    }
}
