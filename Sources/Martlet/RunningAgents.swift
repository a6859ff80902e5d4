import MartletTelemetry
import Synchronization

/// A running agent, which all share who started it.
final class AgentCore: Sendable {
    let recorder: Recorder
    /// `nil` for one in memory, and where the agent is switched off.
    let shipper: Shipper?
    let capture: CaptureState
    /// The scope of an agent in memory that sees nothing else.
    let scope: CaptureScope?
    let isEnabled: Bool

    /// One that ships what it captures.
    init(_ configuration: MartletConfiguration, installing install: (MartletConfiguration.Capture) -> CaptureState) {
        let shipper = configuration.isEnabled ? Shipper() : nil
        self.shipper = shipper
        recorder = Recorder(configuration, onFullSegment: { [weak shipper] in shipper?.signal() })
        capture = configuration.isEnabled ? install(configuration.capture) : .switchedOff
        isEnabled = configuration.isEnabled
        scope = nil
    }

    /// One that keeps it.
    init(inMemory configuration: MartletConfiguration, scope: CaptureScope? = nil) {
        shipper = nil
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

    /// The first use of one that ships, when it has its place.
    func startShipping(_ configuration: MartletConfiguration, _ log: AgentLog) {
        guard let shipper else { return }
        if let reason = capture.reason { log.warning("Capture is \(capture.mode.rawValue): \(reason)") }
        for limit in capture.limits { log.warning(limit) }
        if configuration.bootstrapsTracing { TracingBootstrap.install(log) }
        shipper.start(
            configuration, resource: TelemetryResource(configuration), capture: capture, recorder: recorder, log: log)
    }

    var isCapturing: Bool {
        get { scope?.isOn ?? (Capture.isConnected(to: recorder) && Capture.isOn.load(ordering: .relaxed)) }
        set {
            if let scope {
                scope.isOn = newValue
            } else if Capture.isConnected(to: recorder) {
                newValue ? Capture.switchOn() : Capture.switchOff()
                // The collector is told soon.
                shipper?.signal()
            }
        }
    }

    fileprivate func connect() {
        if let scope { return scope.open(for: isEnabled ? recorder : nil) }
        Capture.isExplicit.store(capture.mode == .explicit, ordering: .relaxed)
        Capture.connect(to: recorder)
    }

    /// - Parameter next: the agent whose place it took.
    fileprivate func disconnect(inFavourOf next: AgentCore?) {
        if let scope { return scope.close() }
        guard Capture.isConnected(to: recorder) else { return }
        if let next { next.connect() } else { Capture.disconnect() }
    }
}

/// The agents of the process that have not ended, the newest last, each with how many hold it. Thread-safe.
///
/// A service has one. A test may have more: one of its own in memory takes the place of the process's until it ends.
enum RunningAgents {
    private struct Entry {
        let core: AgentCore
        var holders = 1
    }

    private static let entries = Mutex<[Entry]>([])

    /// Holds the agent that runs where this is called, that of the scope or the process's; where there is none, the one
    /// that `make` makes.
    static func hold(orMake make: () -> AgentCore) -> (core: AgentCore, isNew: Bool) {
        entries.withLock { entries in
            let scope = Capture.scope
            // A task may outlive its scope; then it is outside.
            let place =
                entries.lastIndex { $0.core.scope === scope } ?? entries.lastIndex { $0.core.scope == nil }
            if let place {
                entries[place].holders += 1
                return (entries[place].core, false)
            }
            return (add(make(), to: &entries), true)
        }
    }

    static func add(_ core: AgentCore) -> AgentCore { entries.withLock { add(core, to: &$0) } }

    private static func add(_ core: AgentCore, to entries: inout [Entry]) -> AgentCore {
        guard core.isEnabled || core.scope != nil else { return core }
        entries.append(Entry(core: core))
        core.connect()
        return core
    }

    /// One who held it lets it go; its owner ends it, whoever else holds it.
    ///
    /// - Returns: whether the agent has ended with that.
    @discardableResult
    static func release(_ core: AgentCore, isOwner: Bool) -> Bool {
        entries.withLock { entries in
            guard let place = entries.firstIndex(where: { $0.core === core }) else { return false }
            entries[place].holders -= 1
            guard isOwner || entries[place].holders == 0 else { return false }
            remove(at: place, from: &entries)
            return true
        }
    }

    static func isRunning(_ core: AgentCore) -> Bool { entries.withLock { $0.contains { $0.core === core } } }

    private static func remove(at place: Int, from entries: inout [Entry]) {
        let core = entries.remove(at: place).core
        core.disconnect(inFavourOf: entries.last { $0.core.scope == nil }?.core)
    }
}
