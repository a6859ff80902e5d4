#if os(Linux)
import Foundation
import MartletTelemetry
import Synchronization

/// The requests of the process that have begun and not ended, by their task. A task stays at its address as long as it
/// has not ended: its session holds it.
enum InFlightRequests {
    /// Past so many a request is seen from its loader on, without its place in the trace, and is not known as hung.
    static let limit = 65_536
    /// After so long a task without a loader is one that a protocol of the service's own took.
    private static let longestWayToLoader = Duration.seconds(60)

    private static let requests = Mutex<[UInt: RequestObservation]>([:])

    typealias Key = UnsafeMutableRawPointer

    /// On the caller's thread. A task that is resumed after a pause, or by a challenge that was answered, goes on.
    static func resume(_ task: Key) {
        let new = RequestObservation()
        requests.withLock { requests in
            let known = requests[UInt(bitPattern: task)]
            guard known?.hasBegun != true, known != nil || requests.count < limit else { return }
            requests[UInt(bitPattern: task)] = new
        }
    }

    /// A loader starts.
    static func observation(of task: Key) -> RequestObservation {
        requests.withLock { requests in
            if let known = requests[UInt(bitPattern: task)] { return known }
            let new = RequestObservation()
            if requests.count < limit { requests[UInt(bitPattern: task)] = new }
            return new
        }
    }

    static func remove(_ task: Key) {
        requests.withLock { _ = $0.removeValue(forKey: UInt(bitPattern: task)) }
    }

    /// How many there are, and the age of the oldest.
    static var summary: (count: Int, oldest: Duration) {
        let starts = requests.withLock { $0.values.filter(\.hasBegun).map(\.start.monotonic) }
        let now = Clock.monotonic()
        return (starts.count, .nanoseconds(Int64(clamping: starts.min().map { now - min(now, $0) } ?? 0)))
    }

    /// Takes out those that are older than `age`.
    static func takeHung(after age: Duration) -> [RequestObservation] {
        requests.withLock { requests in
            var hung: [RequestObservation] = []
            requests = requests.filter { _, observation in
                let hasBegun = observation.hasBegun
                guard Clock.hasPassed(hasBegun ? age : longestWayToLoader, since: observation.start.monotonic) else {
                    return true
                }
                if hasBegun { hung.append(observation) }
                return false
            }
            return hung
        }
    }
}
#endif
