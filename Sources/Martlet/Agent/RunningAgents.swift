import CMartletHooks
import ServiceContextModule
import Synchronization

/// The agents of the process that have not ended, the newest last. Thread-safe.
///
/// A service has one agent. A test may have more: its in-memory agent replaces the process's agent until it ends.
enum RunningAgents {
    private struct State {
        var cores: [AgentCore] = []
        /// The agents of a forked child that replace those of its parent, including ended ones.
        var replacements: [AgentCore] = []
    }

    private static let state = ProcessLock(State())

    /// The newest agent without a scope. A forked child reads it here, because it must not wait for a lock that its
    /// parent held.
    private static let newest = Atomic<Unmanaged<AgentCore>?>(nil)

    /// Holds the agent that runs for the caller: that of its scope, or else the process's. If neither runs, adds the
    /// agent that `make` returns.
    static func hold(orMake make: () -> AgentCore) -> (core: AgentCore, isNew: Bool) {
        ForkedChild.prepare()
        return state.withLock { state in
            let scope = CaptureSwitch.scope
            // A task that has outlived its scope belongs to no scope.
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
        if core.replaced == nil { core.holders.store(1, ordering: .relaxed) }
        state.cores.append(core)
        publishNewest(of: state)
        core.connect()
        return core
    }

    /// Releases one hold on the agent. The agent ends with the last hold, or at once if its owner releases it.
    ///
    /// - Returns: whether the agent has ended.
    @discardableResult
    static func release(_ core: AgentCore, isOwner: Bool) -> Bool {
        state.withLock { state in
            guard let index = state.cores.firstIndex(where: { $0 === core }) else { return false }
            let left = core.holders.subtract(1, ordering: .relaxed).newValue
            guard isOwner || left == 0 else { return false }
            core.holders.store(0, ordering: .relaxed)
            state.cores.remove(at: index)
            publishNewest(of: state)
            core.disconnect(inFavourOf: state.cores.last { $0.scope == nil })
            return true
        }
    }

    static func isRunning(_ core: AgentCore) -> Bool { state.withLock { $0.cores.contains { $0 === core } } }

    /// Publishes the newest agent. Call it under the lock. The old one is released after the new one is stored, because
    /// a fork may happen in between.
    private static func publishNewest(of state: State) {
        let new = state.cores.last { $0.scope == nil }.map { Unmanaged.passRetained($0) }
        newest.exchange(new, ordering: .acquiringAndReleasing)?.release()
    }

    // MARK: In a forked child

    /// Returns the agent that takes the place of `core` in this process: `core` itself or, in a forked child, the
    /// child's agent.
    static func current(for core: AgentCore) -> AgentCore {
        ForkedChild.restartIfForked()
        return core.process == martlet_process() ? core : replacement(of: core)
    }

    /// Starts the child's agent, if the parent had one.
    static func startReplacement() {
        guard let core = newest.load(ordering: .acquiring)?.takeUnretainedValue() else { return }
        if core.process != martlet_process() { _ = replacement(of: core) }
    }

    private static func replacement(of core: AgentCore) -> AgentCore {
        let replaced = core.replaced ?? core
        let (replacement, isNew) = state.withLock { state in
            if let known = state.replacements.first(where: { $0.replaced === replaced }) { return (known, false) }
            let replacement = AgentCore(replacing: core)
            state.replacements.append(replacement)
            return (add(replacement, to: &state), true)
        }
        if isNew { replacement.continueShipping() }
        return replacement
    }
}

extension ForkedChild {
    /// Sets the work that a forked child does first, and initializes statics before the first request. If a thread of
    /// the parent is initializing a static during the fork, the child would wait for it forever.
    static func prepare() {
        _ = restart.storeIfNil(Restart(restartAgent))
        martlet_count_forks()
        restartIfForked()
        _ = (
            CaptureSwitch.recorder, CaptureSwitch.isActive, CaptureSwitch.faults, URLSessionCapture.inFlightBytes,
            AgentCost.nanoseconds
        )
        _ = (
            CaptureSwitch.isExplicit.load(ordering: .relaxed), ServiceContext.current, CaptureScope.current,
            TraceIDs.nextTrace()
        )
        AgentCost.measure {}
        AgentCost.prepare()
        URLSessionCapture.prepare()
    }

    /// Forgets the parent's requests, and starts the child's agent in place of the parent's.
    private static func restartAgent() {
        TraceIDs.reseed()
        AgentCost.reset()
        URLSessionCapture.forgetParentsRequests()
        SegmentMemory.forgetLocked()
        RunningAgents.startReplacement()
    }
}
