import MartletTelemetry
import Synchronization

/// The writer's memory of a full table of cumulative streams.
final class WriterStreams: Sendable {
    /// A search for silent streams reads all rows, so the next one waits, in nanoseconds.
    private static let pause: UnixNanoseconds = 60 * 1_000_000_000

    private let nextSearch = Atomic<UnixNanoseconds>(0)
    private let uncounted = Atomic<UInt64>(0)

    /// The points of streams that found no room, since the start.
    var uncountedPoints: UInt64 { uncounted.load(ordering: .relaxed) }

    func countUncounted(_ points: Int) { uncounted.wrappingAdd(UInt64(points), ordering: .relaxed) }

    /// Returns whether silent streams may be searched for now.
    func maySearch(at now: UnixNanoseconds) -> Bool { now >= nextSearch.load(ordering: .relaxed) }

    /// Notes a search that found too few silent streams.
    func noteSearch(at now: UnixNanoseconds) { nextSearch.store(now &+ Self.pause, ordering: .relaxed) }
}
