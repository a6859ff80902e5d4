import Synchronization

/// The CPU time that capture takes on its service's threads, estimated: of its steps one in 64 is timed, and counts for
/// all of them.
enum AgentCost {
    private static let share: UInt64 = 64
    private static let estimate = Atomic<UInt64>(0)

    /// Reading the clock is a system call, and no part of the step.
    private static let clockNanoseconds =
        (0..<16).map { _ -> UInt64 in
            let start = Clock.threadCPU()
            return Clock.threadCPU() &- start
        }.min() ?? 0

    /// Nanoseconds since the process started.
    static var nanoseconds: UInt64 { estimate.load(ordering: .relaxed) }

    /// Runs a step. The clock is as good as chance and costs less than a counter that threads share; its bits are mixed
    /// because on some machines the last of them never change (Knuth's multiplicative hash).
    static func measure<Result>(_ step: () -> Result) -> Result {
        guard (Clock.monotonic() &* 0x9e37_79b9_7f4a_7c15) >> 58 == 0 else { return step() }
        let start = Clock.threadCPU()
        defer {
            let taken = Clock.threadCPU() &- start
            estimate.wrappingAdd((taken - min(taken, clockNanoseconds)) &* share, ordering: .relaxed)
        }
        return step()
    }
}
