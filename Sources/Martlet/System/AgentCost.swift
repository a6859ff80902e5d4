import CMartletHooks
import Synchronization

/// The CPU time that capture and tracing take on their service's threads, estimated: of the steps one in 61 is timed, and
/// counts for all of them. A span's steps are its start and its end.
enum AgentCost {
    /// Prime, so that no kind of step has all the turns where they come in rotation.
    private static let share: UInt32 = 61
    private static let estimate = Atomic<UInt64>(0)

    /// Reading the clock is a system call, and no part of the step.
    private static let clockNanoseconds =
        (0..<16).map { _ -> UInt64 in
            let start = Clock.threadCPU()
            return Clock.threadCPU() &- start
        }.min() ?? 0

    /// Nanoseconds since the process started.
    static var nanoseconds: UInt64 { estimate.load(ordering: .relaxed) }

    /// In a forked child, which begins with its parent's.
    static func reset() { estimate.store(0, ordering: .relaxed) }

    /// Makes what is made at the first use.
    static func prepare() { _ = clockNanoseconds }

    /// Runs a step.
    static func measure<Result>(_ step: () -> Result) -> Result {
        guard martlet_takes_turn(share) else { return step() }
        let start = Clock.threadCPU()
        defer {
            let taken = Clock.threadCPU() &- start
            estimate.wrappingAdd((taken - min(taken, clockNanoseconds)) &* UInt64(share), ordering: .relaxed)
        }
        return step()
    }
}
