import CMartletHooks
import MartletTelemetry
import Synchronization

/// A running agent, shared by all values that hold it.
final class AgentCore: Sendable {
    let recorder: Recorder
    /// `nil` for an in-memory agent, or if the agent is switched off.
    let thread: AgentThread?
    let capture: EffectiveCapture
    /// The only scope that an in-memory agent captures; `nil` for an agent that captures the whole process.
    let scope: CaptureScope?
    let isEnabled: Bool
    /// The number of values that hold the agent; 0 once it has ended.
    let holders = Atomic<Int>(0)
    let process = martlet_process()
    /// The agent that this one replaces in a forked child: the original one, even after several forks; `nil` otherwise.
    let replaced: AgentCore?
    private let configuration: MartletConfiguration

    /// Makes an agent that ships the requests that it captures.
    init(_ configuration: MartletConfiguration, installing install: (MartletConfiguration.Capture) -> EffectiveCapture)
    {
        self.configuration = configuration
        replaced = nil
        (recorder, thread) = Self.shipping(configuration, isEnabled: configuration.isEnabled)
        capture = configuration.isEnabled ? install(configuration.capture) : .switchedOff
        isEnabled = configuration.isEnabled
        scope = nil
        if isEnabled { RulesWatch.prepare(configuration, capture: capture, active: recorder.rules) }
    }

    /// Makes an agent that keeps the requests that it captures in memory.
    init(inMemory configuration: MartletConfiguration, scope: CaptureScope? = nil) {
        self.configuration = configuration
        replaced = nil
        thread = nil
        self.scope = scope
        recorder = Recorder(configuration, keeping: RecordedRequests(configuration))
        isEnabled = configuration.isEnabled
        guard isEnabled else {
            capture = .switchedOff
            return
        }
        capture = scope == nil ? EffectiveCapture.install(configuration.capture) : EffectiveCapture.installForScope()
        let log = AgentLog(configuration)
        if configuration.bootstrapsTracing { TracingBootstrap.install(log) }
        // No thread of this agent rereads the file.
        RulesWatch(configuration, capture: capture, active: recorder.rules, log: log).start()
    }

    /// Makes a forked child's agent, with the configuration, the rules and the number of holders of `parent`, but
    /// without its records. Takes no lock that the parent may hold.
    init(replacing parent: AgentCore) {
        replaced = parent.replaced ?? parent
        configuration = parent.configuration
        capture = parent.capture
        scope = nil
        let holders = parent.holders.load(ordering: .relaxed)
        self.holders.store(holders, ordering: .relaxed)
        isEnabled = parent.isEnabled && parent.scope == nil && holders > 0
        (recorder, thread) = Self.shipping(
            configuration, isEnabled: isEnabled && parent.thread != nil,
            keeping: parent.recorder.recordedRequests == nil ? nil : RecordedRequests(configuration),
            rules: ActiveRules(forkedFrom: parent.recorder.rules))
    }

    /// A recorder and, where it is enabled, the thread that ships its records.
    private static func shipping(
        _ configuration: MartletConfiguration, isEnabled: Bool, keeping recorded: RecordedRequests? = nil,
        rules: ActiveRules = ActiveRules()
    ) -> (Recorder, AgentThread?) {
        guard isEnabled else { return (Recorder(configuration, keeping: recorded, rules: rules), nil) }
        let requests = FlushRequests()
        let recorder = Recorder(
            configuration, keeping: recorded, rules: rules, onFullSegment: { requests.signal() })
        let board = StatusBoard(heldByOthers: { AgentMemory.bytes(of: recorder) })
        return (recorder, AgentThread(requests: requests, board: board))
    }

    /// Logs the state of capture, installs tracing and starts shipping. Call it after the agent was added to
    /// ``RunningAgents``.
    func startShipping(_ log: AgentLog) {
        guard thread != nil else { return }
        if let reason = capture.reason { log.warning("Capture is \(capture.mode.rawValue): \(reason)") }
        for limit in capture.limits { log.warning(limit) }
        if configuration.bootstrapsTracing { TracingBootstrap.install(log) }
        ship(log)
    }

    private func ship(_ log: AgentLog) {
        if configuration.watchCrashes { martlet_watch_crashes() }
        thread?.start(
            configuration, resource: TelemetryResource(configuration), capture: capture, recorder: recorder, log: log)
    }

    /// Returns what notes SIGTERM; `nil` for an agent that keeps no record, or if nothing has to be noted.
    func watchTermination() -> TerminationWatch? {
        thread != nil && configuration.watchCrashes ? TerminationWatch() : nil
    }

    /// Starts shipping in a forked child. The parent has logged the messages of a start.
    func continueShipping() { ship(AgentLog(configuration)) }

    var isCapturing: Bool {
        get { scope?.isOn ?? (CaptureSwitch.isConnected(to: recorder) && CaptureSwitch.isOn.load(ordering: .relaxed)) }
        set {
            if let scope {
                scope.isOn = newValue
            } else if CaptureSwitch.isConnected(to: recorder) {
                if newValue { URLSessionCapture.forgetWaiting() }
                newValue ? CaptureSwitch.switchOn() : CaptureSwitch.switchOff()
                // The collector should learn of the change soon.
                thread?.requests.signal()
            }
        }
    }

    func connect() {
        if let scope {
            URLSessionCapture.forgetAbandoned()
            return scope.open(for: isEnabled ? recorder : nil)
        }
        URLSessionCapture.forgetWaiting()
        CaptureSwitch.isExplicit.store(capture.mode == .explicit, ordering: .relaxed)
        if replaced == nil { CaptureSwitch.connect(to: recorder) } else { CaptureSwitch.connectForkedChild(recorder) }
    }

    /// - Parameter next: the agent that sees requests from now on; `nil` if none runs.
    func disconnect(inFavourOf next: AgentCore?) {
        if let scope { return scope.close() }
        guard CaptureSwitch.isConnected(to: recorder) else { return }
        if let next { next.connect() } else { CaptureSwitch.disconnect() }
    }
}

/// An estimate of the agent's memory in bytes, excluding the memory for shipping (``ShippingStatus/heldBytes``).
/// `MARTLET_MAX_MEMORY` limits the sum of both, and `status` shows it.
///
/// The journal's files do not count: they are on the disk, and `MARTLET_BUFFER_MAX` counts them.
enum AgentMemory {
    static func bytes(of recorder: Recorder) -> Int { recorder.estimatedBytes + URLSessionCapture.inFlightBytes }
}
