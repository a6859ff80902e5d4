import CMartletHooks
import ServiceContextModule

extension ForkedChild {
    /// Makes the values that are made at their first use, ahead of the first request, and says what a child does.
    ///
    /// Where a thread of the parent's is making such a value at a fork, it is never made in the child, and the child waits
    /// for it: Swift's statics know nothing of forks.
    static func prepare() {
        martlet_count_forks()
        _ = restart.storeIfNil(Restart(beginAnew))
        begin()
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

    /// An agent of the child's own takes the place of the parent's.
    private static func beginAnew() {
        TraceIDs.seedAnew()
        AgentCost.reset()
        URLSessionCapture.beginAnew()
        SegmentMemory.forgetLocked()
        RunningAgents.goOn()
    }
}
