import CMartletHooks
import Synchronization

/// An estimate of the CPU time that capture and tracing take on the service's threads: one call of 61 is timed, and counts
/// for all 61. A span's calls are its start and its end.
enum AgentCost {
    /// A prime number, so that no kind of call has all the turns if the kinds come in rotation.
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

    /// Sets the estimate to 0, in a forked child, which begins with its parent's.
    static func reset() { estimate.store(0, ordering: .relaxed) }

    /// Measures the cost of the clock ahead of the first call.
    static func prepare() { _ = clockNanoseconds }

    /// Makes a call, and times it if its turn has come.
    static func measure<Result>(_ call: () -> Result) -> Result {
        guard martlet_takes_turn(share) else { return call() }
        let start = Clock.threadCPU()
        defer {
            let taken = Clock.threadCPU() &- start
            estimate.wrappingAdd((taken - min(taken, clockNanoseconds)) &* UInt64(share), ordering: .relaxed)
        }
        return call()
    }
}
