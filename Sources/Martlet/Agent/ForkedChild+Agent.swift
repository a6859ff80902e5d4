import CMartletHooks
import ServiceContextModule

extension ForkedChild {
    /// Sets the work of a child, and initializes statics ahead of the first request. If a thread of the parent's is in the
    /// middle of an initialization at a fork, the child waits for it forever: Swift's statics know nothing of forks.
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

    /// Forgets the parent's requests, and starts an agent of the child's own in place of the parent's.
    private static func restartAgent() {
        TraceIDs.seedAnew()
        AgentCost.reset()
        URLSessionCapture.forgetParentsRequests()
        SegmentMemory.forgetLocked()
        RunningAgents.startReplacement()
    }
}
