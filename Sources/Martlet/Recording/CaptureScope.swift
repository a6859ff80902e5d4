import Synchronization

/// The scope of an agent in memory: requests and spans that begin in it belong to that agent. Thread-safe.
final class CaptureScope: Sendable {
    /// The scope of the current Swift task; `nil` outside any. ``CaptureSwitch/scope`` is cheaper where no scope is open.
    @TaskLocal static var current: CaptureScope?

    private let state = Lock(State())

    private struct State {
        var recorder: Recorder?
        var isOn = true
        var hasEnded = false
    }

    /// The recorder of the scope's agent; `nil` before the agent runs, after its end and while it is switched off. Requests
    /// and spans in the scope are not captured then.
    var recorder: Recorder? { state.withLock { $0.isOn ? $0.recorder : nil } }

    /// Whether the scope was open and is closed: no request can begin in it any more.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    var isOn: Bool {
        get { state.withLock(\.isOn) }
        set { state.withLock { $0.isOn = newValue } }
    }

    /// - Parameter recorder: the recorder of the scope's agent; `nil` for an agent that is switched off, whose scope
    ///   captures nothing.
    func open(for recorder: Recorder?) {
        state.withLock { $0.recorder = recorder }
        CaptureSwitch.openScopes.add(1, ordering: .relaxed)
    }

    func close() {
        state.withLock { ($0.recorder, $0.hasEnded) = (nil, true) }
        CaptureSwitch.openScopes.subtract(1, ordering: .relaxed)
    }
}
