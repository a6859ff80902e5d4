import CMartletHooks
import MartletTelemetry
import Synchronization

/// A running agent, shared by all values that hold it.
final class AgentCore: Sendable {
    let recorder: Recorder
    /// `nil` for one in memory, and where the agent is switched off.
    let thread: AgentThread?
    let capture: CaptureState
    /// The scope of an agent in memory that sees nothing else; `nil` for an agent that sees the whole process.
    let scope: CaptureScope?
    let isEnabled: Bool
    /// The number of values that hold the agent; 0 once it has ended.
    fileprivate let holders = Atomic<Int>(0)
    fileprivate let process = martlet_process()
    /// The agent that this one replaces in a forked child, from the process in which both began; `nil` otherwise.
    fileprivate let origin: AgentCore?
    private let configuration: MartletConfiguration

    /// Makes an agent that ships the requests that it captures.
    init(_ configuration: MartletConfiguration, installing install: (MartletConfiguration.Capture) -> CaptureState) {
        self.configuration = configuration
        origin = nil
        (recorder, thread) = Self.shipping(configuration, isEnabled: configuration.isEnabled)
        capture = configuration.isEnabled ? install(configuration.capture) : .switchedOff
        isEnabled = configuration.isEnabled
        scope = nil
    }

    /// Makes an agent that keeps the requests that it captures in memory.
    init(inMemory configuration: MartletConfiguration, scope: CaptureScope? = nil) {
        self.configuration = configuration
        origin = nil
        thread = nil
        self.scope = scope
        recorder = Recorder(configuration, memory: RequestMemory(configuration))
        isEnabled = configuration.isEnabled
        guard isEnabled else {
            capture = .switchedOff
            return
        }
        capture = scope == nil ? CaptureState.install(configuration.capture) : CaptureState.installForScope()
        if configuration.bootstrapsTracing { TracingBootstrap.install(AgentLog(configuration)) }
    }

    /// Makes a forked child's agent, with the configuration and the number of holders of `parent` and none of its records.
    /// Takes no lock of the parent's.
    fileprivate init(inPlaceOf parent: AgentCore) {
        origin = parent.origin ?? parent
        configuration = parent.configuration
        capture = parent.capture
        scope = nil
        let holders = parent.holders.load(ordering: .relaxed)
        self.holders.store(holders, ordering: .relaxed)
        isEnabled = parent.isEnabled && parent.scope == nil && holders > 0
        (recorder, thread) = Self.shipping(
            configuration, isEnabled: isEnabled && parent.thread != nil,
            memory: parent.recorder.memory == nil ? nil : RequestMemory(configuration))
    }

    /// A recorder and, where it is enabled, the thread that ships what it records.
    private static func shipping(
        _ configuration: MartletConfiguration, isEnabled: Bool, memory: RequestMemory? = nil
    ) -> (Recorder, AgentThread?) {
        guard isEnabled else { return (Recorder(configuration, memory: memory), nil) }
        let requests = FlushRequests()
        let recorder = Recorder(configuration, memory: memory, onFullSegment: { requests.signal() })
        let board = StatusBoard(heldByOthers: { AgentMemory.bytes(of: recorder) })
        return (recorder, AgentThread(requests: requests, board: board))
    }

    /// Logs the state of capture, installs tracing and starts shipping. For an agent that ``RunningAgents`` has already.
    func startShipping(_ log: AgentLog) {
        guard thread != nil else { return }
        if let reason = capture.reason { log.warning("Capture is \(capture.mode.rawValue): \(reason)") }
        for limit in capture.limits { log.warning(limit) }
        if configuration.bootstrapsTracing { TracingBootstrap.install(log) }
        ship(log)
    }

    private func ship(_ log: AgentLog) {
        thread?.start(
            configuration, resource: TelemetryResource(configuration), capture: capture, recorder: recorder, log: log)
    }

    /// Starts shipping in a forked child. The parent has logged the messages of a start.
    fileprivate func goOnShipping() { ship(AgentLog(configuration)) }

    var isCapturing: Bool {
        get { scope?.isOn ?? (CaptureSwitch.isConnected(to: recorder) && CaptureSwitch.isOn.load(ordering: .relaxed)) }
        set {
            if let scope {
                scope.isOn = newValue
            } else if CaptureSwitch.isConnected(to: recorder) {
                if newValue { URLSessionCapture.forgetWaiting() }
                newValue ? CaptureSwitch.switchOn() : CaptureSwitch.switchOff()
                // The collector is told soon.
                thread?.requests.signal()
            }
        }
    }

    fileprivate func connect() {
        if let scope {
            URLSessionCapture.forgetAbandoned()
            return scope.open(for: isEnabled ? recorder : nil)
        }
        URLSessionCapture.forgetWaiting()
        CaptureSwitch.isExplicit.store(capture.mode == .explicit, ordering: .relaxed)
        if origin == nil { CaptureSwitch.connect(to: recorder) } else { CaptureSwitch.goOn(with: recorder) }
    }

    /// - Parameter next: the agent that sees requests from now on; `nil` if none runs.
    fileprivate func disconnect(inFavourOf next: AgentCore?) {
        if let scope { return scope.close() }
        guard CaptureSwitch.isConnected(to: recorder) else { return }
        if let next { next.connect() } else { CaptureSwitch.disconnect() }
    }
}

/// The agents of the process that have not ended, the newest last. Thread-safe.
///
/// A service has one. A test may have more: its agent in memory replaces the process's until it ends.
enum RunningAgents {
    private struct State {
        var cores: [AgentCore] = []
        /// The agents of a forked child that replace its parent's, ended ones included.
        var heirs: [AgentCore] = []
    }

    private static let state = ProcessLock(State())

    /// The newest agent without a scope. A forked child, which must not wait for a lock of its parent's, finds it here.
    private static let newest = Atomic<Unmanaged<AgentCore>?>(nil)

    /// Holds the agent that runs for the caller, that of its scope or the process's; if neither runs, the one that `make`
    /// returns.
    static func hold(orMake make: () -> AgentCore) -> (core: AgentCore, isNew: Bool) {
        ForkedChild.prepare()
        return state.withLock { state in
            let scope = CaptureSwitch.scope
            // A task that has outlived its scope is outside.
            let known = state.cores.last { $0.scope === scope } ?? state.cores.last { $0.scope == nil }
            if let known {
                known.holders.add(1, ordering: .relaxed)
                return (known, false)
            }
            return (add(make(), to: &state), true)
        }
    }

    static func add(_ core: AgentCore) -> AgentCore {
        ForkedChild.prepare()
        return state.withLock { add(core, to: &$0) }
    }

    private static func add(_ core: AgentCore, to state: inout State) -> AgentCore {
        guard core.isEnabled || core.scope != nil else { return core }
        if core.origin == nil { core.holders.store(1, ordering: .relaxed) }
        state.cores.append(core)
        publishNewest(of: state)
        core.connect()
        return core
    }

    /// Lets go of one hold on the agent. The agent ends with the last hold, or at once if its owner lets go.
    ///
    /// - Returns: whether the agent has ended.
    @discardableResult
    static func release(_ core: AgentCore, isOwner: Bool) -> Bool {
        state.withLock { state in
            guard let place = state.cores.firstIndex(where: { $0 === core }) else { return false }
            let left = core.holders.subtract(1, ordering: .relaxed).newValue
            guard isOwner || left == 0 else { return false }
            core.holders.store(0, ordering: .relaxed)
            state.cores.remove(at: place)
            publishNewest(of: state)
            core.disconnect(inFavourOf: state.cores.last { $0.scope == nil })
            return true
        }
    }

    static func isRunning(_ core: AgentCore) -> Bool { state.withLock { $0.cores.contains { $0 === core } } }

    /// Publishes the newest agent; called under the lock. The old one is released after the new one is stored, because a fork
    /// may come between.
    private static func publishNewest(of state: State) {
        let new = state.cores.last { $0.scope == nil }.map { Unmanaged.passRetained($0) }
        newest.exchange(new, ordering: .acquiringAndReleasing)?.release()
    }

    // MARK: In a forked child

    /// Returns the agent that stands for `core` in this process: `core` itself or, in a forked child, the child's own.
    static func own(_ core: AgentCore) -> AgentCore {
        ForkedChild.begin()
        return core.process == martlet_process() ? core : heir(of: core)
    }

    /// Starts the child's own agent, if the parent had one.
    static func goOn() {
        guard let core = newest.load(ordering: .acquiring)?.takeUnretainedValue() else { return }
        if core.process != martlet_process() { _ = heir(of: core) }
    }

    private static func heir(of core: AgentCore) -> AgentCore {
        let origin = core.origin ?? core
        let (heir, isNew) = state.withLock { state in
            if let known = state.heirs.first(where: { $0.origin === origin }) { return (known, false) }
            let heir = AgentCore(inPlaceOf: core)
            state.heirs.append(heir)
            return (add(heir, to: &state), true)
        }
        if isNew { heir.goOnShipping() }
        return heir
    }
}
