import Synchronization

/// Ties requests and spans to the agent in memory in whose scope they begin. Thread-safe.
final class CaptureScope: Sendable {
    /// The scope of the Swift task that runs; ``CaptureSwitch/scope`` is cheaper where there is none.
    @TaskLocal static var current: CaptureScope?

    private let state = Lock(State())

    private struct State {
        var recorder: Recorder?
        var isOn = true
    }

    /// `nil` before its agent runs and after its end, and while it is switched off: what is in the scope is seen by nobody
    /// then.
    var recorder: Recorder? { state.withLock { $0.isOn ? $0.recorder : nil } }

    var isOn: Bool {
        get { state.withLock(\.isOn) }
        set { state.withLock { $0.isOn = newValue } }
    }

    /// - Parameter recorder: `nil` where its agent is switched off: what is in the scope is seen by nobody then.
    func open(for recorder: Recorder?) {
        state.withLock { $0.recorder = recorder }
        CaptureSwitch.scopes.add(1, ordering: .relaxed)
    }

    func close() {
        state.withLock { $0.recorder = nil }
        CaptureSwitch.scopes.subtract(1, ordering: .relaxed)
    }
}
