import Foundation
import Synchronization

/// Where every instrument of the process finds the agent that runs, and the switch that all of them read. There is one
/// for the process because a hook in a class is one for the process.
enum CaptureSwitch {
    /// Read at the start and the end of every request: off, instruments see nothing, and what they stand in front of
    /// goes on unchanged.
    static let isOn = Atomic<Bool>(false)

    /// Set where sessions are captured one by one: of the two ways only one is in force, so that no request is seen twice.
    static let isExplicit = Atomic<Bool>(false)

    private static let connected = ProcessLock<Recorder?>(nil)
    private static let faultCount = Atomic<Int>(0)
    private static let ownSwitch = ProcessLock(CaptureSwitchState.off)
    /// The service's own word, which a forked child's agent follows too.
    private static let isOffByService = Atomic<Bool>(false)

    /// How many scopes are open: as long as there are none, nobody has to look for one.
    static let scopes = Atomic<Int>(0)

    /// The scope of the task that runs.
    static var scope: CaptureScope? {
        guard scopes.load(ordering: .relaxed) > 0 else { return nil }
        ForkedChild.begin()
        return scopes.load(ordering: .relaxed) > 0 ? CaptureScope.current : nil
    }

    /// Whether anybody sees anything.
    static var isActive: Bool {
        ForkedChild.begin()
        return isOn.load(ordering: .relaxed) || scopes.load(ordering: .relaxed) > 0
    }

    /// The process's; `nil` while no agent runs, or it is switched off.
    static var recorder: Recorder? {
        ForkedChild.begin()
        return isOn.load(ordering: .relaxed) ? connected.withLock { $0 } : nil
    }

    /// That of what began in a scope, or outside any.
    static func recorder(in scope: CaptureScope?) -> Recorder? {
        guard let scope else { return recorder }
        return scope.recorder
    }

    static func isConnected(to recorder: Recorder) -> Bool { connected.withLock { $0 === recorder } }

    static func connect(to recorder: Recorder) {
        replace(by: recorder)
        switchOn()
    }

    /// In a forked child: off where the service had switched its parent's off. A scope is its parent's.
    static func goOn(with recorder: Recorder) {
        scopes.store(0, ordering: .relaxed)
        isOn.store(false, ordering: .relaxed)
        if !isOffByService.load(ordering: .relaxed) { return connect(to: recorder) }
        replace(by: recorder)
        switchOff()
    }

    /// The one before is told that its time without capture is over: it has none of its own until it is connected again.
    private static func replace(by recorder: Recorder?) {
        let former = connected.withLock { connected in
            defer { connected = recorder }
            return connected
        }
        former?.unwatched.end()
    }

    // MARK: The switch

    static var state: CaptureSwitchState { ownSwitch.withLock { $0 } }

    /// How often it was switched on, by the service or by an agent that took its place.
    static let switches = Atomic<Int>(0)

    /// The service's word.
    static func switchOn() {
        switches.wrappingAdd(1, ordering: .relaxed)
        faultCount.store(0, ordering: .relaxed)
        change { $0 = .on }
    }

    /// The service's word.
    static func switchOff() { change { $0 = .off } }

    /// The agent's own decision, until ``resume()``.
    ///
    /// - Parameter reason: for `status`, the log and the collector.
    static func pause(because reason: String) { change { $0.pause(because: reason) } }

    /// Goes on where the agent has paused, and nobody else switched since.
    static func resume() {
        change { $0.resume() }
    }

    private static func change(_ change: (inout CaptureSwitchState) -> Void) {
        ownSwitch.withLock { state in
            change(&state)
            isOn.store(state.isOn, ordering: .releasing)
            isOffByService.store(state == .off, ordering: .relaxed)
            // An agent in memory does not account for its time.
            guard let recorder = connected.withLock({ $0 }), recorder.memory == nil else { return }
            if state.isOn { recorder.unwatched.end() } else { recorder.unwatched.begin() }
        }
    }

    /// Internal errors since capture was switched on.
    static var faults: Int { faultCount.load(ordering: .relaxed) }

    /// Counts something that should not be. Never called under a lock.
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
