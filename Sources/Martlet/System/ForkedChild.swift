import CMartletHooks
import Synchronization

/// A process that was forked from one with an agent, and executes no other program: a worker of a server that forks ahead of
/// its requests, a daemon behind `daemon()`.
///
/// It has its parent's memory, and of its threads the one that forked. So it uses nothing of the parent's agent: neither a
/// lock, which a thread that is gone may hold, nor a file. Values of the process are in a ``ProcessLock`` or made anew by
/// ``restart``, the journal's memory is not mapped in the child (``SegmentMemory``), and requests and spans that were under
/// way know their process and rest.
enum ForkedChild {
    /// The work that a child does once, ahead of its first request. The agent sets it at its start; never removed.
    static let restart = AtomicLazyReference<Restart>()

    final class Restart: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// The process that has been restarted.
    private static let done = Atomic<UInt32>(0)
    private static let isDone = ProcessLock(false)

    /// Restarts in a child. Called ahead of all that an agent does for its service: two loads, and no more where the process
    /// was not forked.
    @inline(__always)
    static func begin() {
        if done.load(ordering: .acquiring) != martlet_process() { beginOnce() }
    }

    /// Says nothing in the log: the service's handler may come back here.
    @inline(never)
    private static func beginOnce() {
        isDone.withLock { isDone in
            guard !isDone else { return }
            restart.load()?.run()
            isDone = true
            done.store(martlet_process(), ordering: .releasing)
        }
    }
}
