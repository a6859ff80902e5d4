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

    /// What one holds, roughly: an observation of 200 bytes, an observer of 110, and its place here. The request itself
    /// is its task's.
    static let bytes = 384

    private static let requests = Mutex<[UInt: RequestObservation]>([:])

    typealias Key = UnsafeMutableRawPointer

    /// On the caller's thread. A task that is resumed after a pause, or by a challenge that was answered, goes on.
    static func resume(_ task: Key) {
        let new = RequestObservation()
        _ = requests.withLock { requests in
            let known = requests[UInt(bitPattern: task)]
            guard known?.stage ?? .resumed == .resumed, known != nil || requests.count < limit else { return known }
            requests[UInt(bitPattern: task)] = new
            return known
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

    /// The scope in which the task was resumed.
    static func scope(of task: Key) -> CaptureScope? {
        guard Capture.scopes.load(ordering: .relaxed) > 0 else { return nil }
        return requests.withLock { $0[UInt(bitPattern: task)]?.start.scope }
    }

    static func knows(_ task: Key) -> Bool { requests.withLock { $0[UInt(bitPattern: task)] != nil } }

    static func remove(_ task: Key) {
        // Released when the lock is open: what a span was told may be of the service's own types.
        _ = requests.withLock { $0.removeValue(forKey: UInt(bitPattern: task)) }
    }

    /// To be called before capture is switched on again. In the meantime a task that waited for a loader may have ended
    /// unseen, and another one may have its address: that one is not to be taken for it. Scopes have a switch of their own.
    static func forgetWaiting() {
        _ = requests.withLock { requests in
            let waiting = requests.filter { $0.value.start.scope == nil && $0.value.waitsForLoader }
            for task in waiting.keys { requests[task] = nil }
            return waiting
        }
    }

    /// How many there are, and the age of the oldest; not those that counted as hung.
    static var summary: (count: Int, oldest: Duration) {
        let starts = requests.withLock { $0.values.filter { $0.stage == .begun }.map(\.start.monotonic) }
        let now = Clock.monotonic()
        return (starts.count, .nanoseconds(Int64(clamping: starts.min().map { now - min(now, $0) } ?? 0)))
    }

    /// Roughly what all of them hold, those that wait for their loader too.
    static var estimatedBytes: Int { requests.withLock(\.count) * bytes }

    /// Those that are older than `age` and did not end. They stay known until their task ends, so that what becomes of
    /// them is not another request.
    static func hung(after age: Duration) -> [RequestObservation] {
        forgetAbandoned()
        return requests.withLock {
            $0.values.filter { $0.stage == .begun && Clock.hasPassed(age, since: $0.start.monotonic) }
        }
    }

    private static func forgetAbandoned() {
        _ = requests.withLock { requests in
            let abandoned = requests.filter { _, observation in
                observation.stage == .resumed && Clock.hasPassed(longestWayToLoader, since: observation.start.monotonic)
            }
            for task in abandoned.keys { requests[task] = nil }
            return abandoned
        }
    }
}
#endif
