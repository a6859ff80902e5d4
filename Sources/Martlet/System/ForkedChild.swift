import CMartletHooks
import Synchronization

/// A forked child of a process with an agent that does not execute another program: a worker of a server that forks
/// before it serves requests, or a daemon made by `daemon()`.
///
/// The child has its parent's memory, but only the thread that forked. So it uses nothing of the parent's agent: no
/// file, and no lock, because a thread that no longer exists may hold it. Values that a process has once are in a
/// ``ProcessLock`` or recreated by ``restart``. The journal's memory is not available in the child (``SegmentMemory``).
/// Requests and spans in flight know their process, and the child ignores them.
enum ForkedChild {
    /// The work that a child does once, before its first request or span. The agent sets it at its start.
    static let restart = AtomicLazyReference<Restart>()

    final class Restart: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// The last process in which ``restart`` has run. Initially 0, the number of the process that first started an
    /// agent.
    private static let restartedProcess = Atomic<UInt32>(0)
    private static let hasRestarted = ProcessLock(false)

    /// Whether this process was forked from one with an agent.
    static var isHere: Bool { martlet_process() != 0 }

    /// Runs ``restart`` once in a forked process. Call it before all work that an agent does for its service. Costs a
    /// few loads in a process that was not forked.
    @inline(__always)
    static func restartIfForked() {
        if restartedProcess.load(ordering: .acquiring) != martlet_process() { restartOnce() }
    }

    /// Runs ``restart``, unless it has already run in this process. Logs nothing, because the service's log handler may
    /// call ``restartIfForked()`` again.
    @inline(never)
    private static func restartOnce() {
        guard let restart = restart.load() else { return }
        hasRestarted.withLock { hasRestarted in
            guard !hasRestarted else { return }
            restart.run()
            hasRestarted = true
            restartedProcess.store(martlet_process(), ordering: .releasing)
        }
    }
}
