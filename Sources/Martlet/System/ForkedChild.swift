import CMartletHooks
import Synchronization

/// A forked child of a process with an agent, if it executes no other program: a worker of a server that forks ahead of its
/// requests, a daemon behind `daemon()`.
///
/// The child has its parent's memory and, of its threads, only the one that forked. So it uses nothing of the parent's agent:
/// no lock, which a thread that is gone may hold, and no file. Values that a process has one of are in a ``ProcessLock`` or
/// made anew by ``restart``. The journal's memory is not the child's (``SegmentMemory``). Requests and spans under way know
/// their process, and the child ignores them.
enum ForkedChild {
    /// The work that a child does ahead of its first request or span, once. The agent sets it at its start.
    static let restart = AtomicLazyReference<Restart>()

    final class Restart: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// The last process in which ``restart`` has run; at first 0, the number of the process that first started an
    /// agent.
    private static let restartedProcess = Atomic<UInt32>(0)
    private static let hasRestarted = ProcessLock(false)

    /// Whether this process was forked from one with an agent.
    static var isHere: Bool { martlet_process() != 0 }

    /// Runs ``restart`` once in a forked process. To be called ahead of all work that an agent does for its service.
    /// Costs a few loads in a process that was not forked.
    @inline(__always)
    static func restartIfForked() {
        if restartedProcess.load(ordering: .acquiring) != martlet_process() { restartOnce() }
    }

    /// Logs nothing, because the service's log handler may call ``restartIfForked()`` again.
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
