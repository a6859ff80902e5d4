import MartletTelemetry

/// Both clocks at one moment. A pair gives a duration by the monotonic clock where start and end are given by the wall
/// clock, which may jump in between.
struct ClockPair: Sendable {
    private let wall = Clock.wall()
    private let monotonic = Clock.monotonic()

    /// Returns the nanoseconds from `start`, which was given when the pair was made, to `end`, which is given now. Each may
    /// be any moment, also of the past: it counts by its distance from the wall clock when it was given.
    func duration(from start: UnixNanoseconds, to end: UnixNanoseconds) -> UInt64 {
        let now = ClockPair()
        let beforeStart = Int64(truncatingIfNeeded: wall &- start)
        let beforeEnd = Int64(truncatingIfNeeded: now.wall &- end)
        let elapsed = Int64(truncatingIfNeeded: now.monotonic &- monotonic)
        return UInt64(max(0, elapsed &+ beforeStart &- beforeEnd))
    }
}
