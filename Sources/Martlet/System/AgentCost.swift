import CMartletHooks
import Synchronization

/// An estimate of the CPU time that capture and tracing use on the service's threads: one call in 61 is timed, and
/// counts for all 61. The start and the end of a span are separate calls. The service's own closures do not count.
enum AgentCost {
    /// A prime number, so that in a regular rotation of different calls each kind is sampled.
    private static let share: UInt32 = 61
    private static let estimate = Atomic<UInt64>(0)

    /// The cost of reading the clock, which is subtracted from the cost of a timed call.
    private static let clockNanoseconds =
        (0..<16).map { _ -> UInt64 in
            let start = Clock.threadCPU()
            return Clock.threadCPU() &- start
        }.min() ?? 0

    /// Estimated nanoseconds since the process started.
    static var nanoseconds: UInt64 { estimate.load(ordering: .relaxed) }

    /// Sets the estimate to 0. For a forked child, which starts with its parent's value.
    static func reset() { estimate.store(0, ordering: .relaxed) }

    /// Measures the cost of the clock before the first call.
    static func prepare() { _ = clockNanoseconds }

    /// Makes a call, and times it if it is sampled.
    static func measure<Result>(_ call: () -> Result) -> Result {
        guard martlet_takes_turn(share) else { return call() }
        let outer = martlet_service_time()
        martlet_set_service_time(0)
        let start = Clock.threadCPU()
        defer {
            let taken = Clock.threadCPU() &- start
            let others = clockNanoseconds &+ UInt64(clamping: martlet_service_time())
            estimate.wrappingAdd((taken - min(taken, others)) &* UInt64(share), ordering: .relaxed)
            martlet_set_service_time(outer)
        }
        return call()
    }

    /// Runs a closure of the service, and excludes its time from any measurement on this thread.
    static func excludingTime<Result>(of closure: () -> Result) -> Result {
        let before = martlet_service_time()
        guard before >= 0 else { return closure() }
        let start = Clock.threadCPU()
        defer { martlet_set_service_time(before &+ Int64(clamping: Clock.threadCPU() &- start)) }
        return closure()
    }

    // MARK: The agent's thread

    /// Measures the calling thread as a whole from now on.
    static func beginThread() { martlet_set_service_time(0) }

    /// The agent's CPU time on the calling thread, in nanoseconds.
    static var thread: UInt64 { Clock.threadCPU() &- UInt64(clamping: martlet_service_time()) }

    /// The agent's CPU time on the calling thread plus the estimate, in nanoseconds.
    static var total: UInt64 { thread &+ nanoseconds }
}
