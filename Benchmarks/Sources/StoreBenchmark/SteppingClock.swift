import MartletTelemetry
import Synchronization

/// A clock that the benchmark advances by hand, so that hours pass in seconds.
final class SteppingClock: Sendable {
    private let nanoseconds: Atomic<UInt64>

    init(start seconds: UInt64) {
        nanoseconds = Atomic(seconds * 1_000_000_000)
    }

    var now: UnixNanoseconds { nanoseconds.load(ordering: .relaxed) }

    func advance(seconds: UInt64) {
        nanoseconds.add(seconds * 1_000_000_000, ordering: .relaxed)
    }
}
