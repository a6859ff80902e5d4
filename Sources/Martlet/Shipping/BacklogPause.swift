import MartletTelemetry

/// The pauses between the batches of a backlog. After an outage all agents of a fleet have one. So each of them waits for longer,
/// the longer the collector took to answer, and leaves it room for the others.
struct BacklogPause {
    private let longest: Duration
    /// The time of the slowest upload; it fades. A collector that is quick for one upload may only have refused others.
    private var slowest = Duration.zero
    /// The time when the next batch may be sent, in nanoseconds of the monotonic clock.
    private(set) var notBefore: UInt64 = 0

    /// - Parameter interval: the time in which an agent makes a batch. It sends several in that time, so that a backlog always
    ///   shrinks.
    init(interval: Duration) { longest = interval * MartletLimits.longestPacing }

    /// Notes an upload that has ended.
    ///
    /// - Parameters:
    ///   - duration: the time that it took.
    ///   - random: a number from 0 to 1.
    mutating func note(_ duration: Duration, at now: UInt64, random: Double = .random(in: 0...1)) {
        slowest = max(duration, slowest * MartletLimits.pacingMemory)
        let pause = min(slowest * (1 / MartletLimits.uploadShare - 1), longest)
        notBefore = now &+ (pause * (0.5 + random / 2)).nanoseconds
    }
}
