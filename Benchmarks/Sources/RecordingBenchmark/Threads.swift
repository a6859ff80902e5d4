import Foundation
import Synchronization

/// Runs the same work on several threads at once.
enum Threads {
    /// Runs `body` on `count` threads and returns the nanoseconds from the first start to the last end.
    static func run(_ count: Int, _ body: @escaping @Sendable () -> Void) -> Double {
        let ready = Atomic<Int>(0)
        let begins = Mutex<[UInt64]>([])
        let ends = Mutex<[UInt64]>([])
        DispatchQueue.concurrentPerform(iterations: count) { _ in
            ready.wrappingAdd(1, ordering: .acquiringAndReleasing)
            while ready.load(ordering: .acquiring) < count {}
            let begin = now()
            body()
            let end = now()
            begins.withLock { $0.append(begin) }
            ends.withLock { $0.append(end) }
        }
        return Double((ends.withLock { $0.max() } ?? 0) - (begins.withLock { $0.min() } ?? 0))
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
