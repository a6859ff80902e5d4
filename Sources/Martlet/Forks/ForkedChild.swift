import CMartletHooks
import ServiceContextModule
import Synchronization

/// A forked child of a process with an agent, if it executes no other program: a worker of a server that forks ahead of its
/// requests, a daemon behind `daemon()`.
///
/// The child has its parent's memory and, of its threads, only the one that forked. So it uses nothing of the parent's agent:
/// no lock, which a thread that is gone may hold, and no file. Values that a process has one of are in a ``ProcessLock`` or
/// made anew here. The journal's memory is not the child's (``SegmentMemory``). Requests and spans under way know their
/// process, and the child ignores them. An agent of the child's own replaces the parent's as soon as the child has a
/// request or a span to see.
enum ForkedChild {
    /// The last process in which ``beginOnce()`` has run; at first 0, the process that nobody forked.
    private static let done = Atomic<UInt32>(0)
    private static let isDone = ProcessLock(false)

    /// Initializes statics ahead of the first request. If a thread of the parent's is in the middle of an initialization at a
    /// fork, the child waits for it forever: Swift's statics know nothing of forks.
    static func prepare() {
        martlet_count_forks()
        begin()
        _ = (Capture.recorder, Capture.isActive, Capture.faults, Capture.inFlightBytes, AgentCost.nanoseconds)
        _ = (
            Capture.isExplicit.load(ordering: .relaxed), ServiceContext.current, CaptureScope.current,
            TraceIDs.nextTrace()
        )
        AgentCost.measure {}
        AgentCost.prepare()
        #if os(Linux)
        EasyHandle.prepare()
        #endif
    }

    /// Makes sure that the process is done with its parent's agent. To be called ahead of all work that an agent does for its
    /// service. Costs a few loads in a process that was not forked.
    @inline(__always)
    static func begin() {
        if done.load(ordering: .acquiring) != martlet_process() { beginOnce() }
    }

    /// Logs nothing, because the service's log handler may call ``begin()`` again.
    @inline(never)
    private static func beginOnce() {
        isDone.withLock { isDone in
            guard !isDone else { return }
            TraceIDs.seedAnew()
            AgentCost.reset()
            Capture.beginAnew()
            SegmentMemory.forgetLocked()
            RunningAgents.goOn()
            isDone = true
            done.store(martlet_process(), ordering: .releasing)
        }
    }
}
