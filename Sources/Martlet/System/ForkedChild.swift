import CMartletHooks
import ServiceContextModule
import Synchronization

/// A process that was forked from one with an agent, and executes no other program: a worker of a server that forks ahead of
/// its requests, a daemon behind `daemon()`.
///
/// It has its parent's memory, and of its threads the one that forked. So nothing of the parent's agent is used in it: neither a
/// lock, which a thread that is gone may hold, nor a file. What the process has one of is in a ``ProcessLock`` or made anew
/// here, the journal's memory is not the child's (``SegmentMemory``), and requests and spans that were under way know their
/// process and rest. An agent of its own takes the place of the parent's as soon as there is something to see.
enum ForkedChild {
    /// The process that this was done for.
    private static let done = Atomic<UInt32>(0)
    private static let isDone = ProcessLock(false)

    /// Makes what is made at its first use, ahead of the first request. Where a thread of the parent's is in the middle of that
    /// at a fork, it is never made in the child, and the child waits for it: Swift's statics know nothing of forks.
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

    /// To be called ahead of all that an agent does for its service. Two loads, and no more where the process was not forked.
    @inline(__always)
    static func begin() {
        if done.load(ordering: .acquiring) != martlet_process() { beginOnce() }
    }

    /// Says nothing in the log: the service's handler may come back here.
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
