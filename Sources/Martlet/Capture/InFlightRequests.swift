#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry
import Synchronization

/// The requests of the process that have begun and not ended, by their task. A task stays at its address as long as it
/// has not ended: its session holds it. One that was asked for credentials may end unseen, and is told from the next at
/// its address.
enum InFlightRequests {
    /// Past so many a request is seen from its loader on, without its place in the trace, and is not known as hung.
    static let limit = 65_536
    /// After so long a task without a loader is one that a protocol of the service's own took.
    private static let longestWayToLoader = Duration.seconds(60)

    /// What one holds, roughly: an observation of 200 bytes, an observer of 110, and its place here. The request itself
    /// is its task's.
    static let bytes = 384

    private static let requests = ProcessLock<[UInt: RequestObservation]>([:])

    /// A task's address.
    typealias Key = UInt

    static func key(_ task: URLSessionTask) -> Key { UInt(bitPattern: Unmanaged.passUnretained(task).toOpaque()) }

    /// On the caller's thread. A task that is resumed after a pause, or by a challenge that was answered, goes on.
    ///
    /// - Returns: What was left over of another task, which had this address and ended unseen.
    static func resume(_ task: URLSessionTask) -> RequestObservation? {
        let (key, new) = (key(task), RequestObservation())
        let (known, goesOn) = requests.withLock { requests -> (RequestObservation?, Bool) in
            let known = requests[key]
            if let known, known.stage != .resumed, !known.isLeftOver(at: task) { return (known, true) }
            if known != nil || requests.count < limit { requests[key] = new }
            return (known, false)
        }
        if goesOn { known?.noteResumed() }
        return goesOn ? nil : known
    }

    /// A loader starts.
    static func observation(of task: URLSessionTask) -> RequestObservation {
        requests.withLock { requests in
            if let known = requests[key(task)] { return known }
            let new = RequestObservation()
            if requests.count < limit { requests[key(task)] = new }
            return new
        }
    }

    /// The scope in which the task was resumed.
    static func scope(of task: URLSessionTask) -> CaptureScope? {
        guard Capture.scopes.load(ordering: .relaxed) > 0 else { return nil }
        return requests.withLock { $0[key(task)]?.start.scope }
    }

    static func knows(_ task: URLSessionTask) -> Bool { requests.withLock { $0[key(task)] != nil } }

    static func remove(_ task: URLSessionTask) {
        // Released when the lock is open: what a span was told may be of the service's own types.
        _ = requests.withLock { $0.removeValue(forKey: key(task)) }
    }

    /// Removes the request of a task that may be gone, and another one at its address.
    static func remove(_ observation: RequestObservation, at key: Key) {
        requests.withLock { requests in
            if requests[key] === observation { requests[key] = nil }
        }
    }

    /// Requests that ended without their loader's client being told.
    static var endedUnseen: [(key: Key, value: RequestObservation)] {
        requests.withLock { $0.filter { $0.value.isChallenged } }.filter { $0.value.unseenEnd != nil }
            .map { ($0.key, $0.value) }
    }

    /// To be called before capture is switched on again. In the meantime a task that waited for a loader may have ended
    /// unseen, and another one may have its address: that one is not to be taken for it. Scopes have a switch of their own.
    static func forgetWaiting() {
        let waiting = requests.withLock { requests in
            let waiting = requests.filter { $0.value.start.scope == nil && $0.value.waitsForLoader }
            for task in waiting.keys { requests[task] = nil }
            return waiting
        }
        for observation in waiting.values { _ = observation.end() }
    }

    /// How many there are of the scope, and the age of the oldest; not those that counted as hung.
    ///
    /// - Parameter scope: `nil` for those that began outside any.
    static func summary(in scope: CaptureScope?) -> (count: Int, oldest: Duration) {
        let starts = requests.withLock { requests in
            requests.values.filter { $0.start.scope === scope && $0.stage == .begun }.map(\.start.monotonic)
        }
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

    static func forgetAbandoned() {
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
