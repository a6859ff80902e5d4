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

    /// A task's address.
    typealias Key = UInt

    /// A part of the requests, with a lock of its own: `resume()` waits for nobody who walks through all of them for longer
    /// than one part takes.
    private final class Part: Sendable {
        let requests = ProcessLock<[Key: RequestObservation]>([:])
    }

    private static let parts = (0..<64).map { _ in Part() }
    private static let count = Atomic<Int>(0)

    /// Objects lie at multiples of 16, as a rule far apart, so their addresses are mixed first.
    private static func part(of key: Key) -> Part {
        parts[Int(((key >> 4) &* 0x9E37_79B9_7F4A_7C15) >> 58)]
    }

    static func key(_ task: URLSessionTask) -> Key { UInt(bitPattern: Unmanaged.passUnretained(task).toOpaque()) }

    /// On the caller's thread. A task that is resumed after a pause, or by a challenge that was answered, goes on.
    ///
    /// - Returns: What was left over of another task, which had this address and ended unseen.
    static func resume(_ task: URLSessionTask) -> RequestObservation? {
        let (key, new) = (key(task), RequestObservation())
        let (known, goesOn) = part(of: key).requests.withLock { requests -> (RequestObservation?, Bool) in
            let known = requests[key]
            if let known, known.stage != .resumed, !known.isLeftOver(at: task) { return (known, true) }
            if known != nil || hasRoom() { requests[key] = new }
            return (known, false)
        }
        if goesOn { known?.noteResumed() }
        return goesOn ? nil : known
    }

    /// A loader starts.
    static func observation(of task: URLSessionTask) -> RequestObservation {
        let key = key(task)
        return part(of: key).requests.withLock { requests in
            if let known = requests[key] { return known }
            let new = RequestObservation()
            if hasRoom() { requests[key] = new }
            return new
        }
    }

    /// Takes the place of one more.
    private static func hasRoom() -> Bool {
        let hasRoom = count.wrappingAdd(1, ordering: .relaxed).oldValue < limit
        if !hasRoom { count.wrappingSubtract(1, ordering: .relaxed) }
        return hasRoom
    }

    private static func known(at key: Key) -> RequestObservation? { part(of: key).requests.withLock { $0[key] } }

    /// In a forked child, which has none of its parent's.
    static func beginAnew() { count.store(0, ordering: .relaxed) }

    /// The scope in which the task was resumed.
    static func scope(of task: URLSessionTask) -> CaptureScope? {
        guard CaptureSwitch.scopes.load(ordering: .relaxed) > 0 else { return nil }
        return known(at: key(task))?.start.scope
    }

    static func knows(_ task: URLSessionTask) -> Bool { known(at: key(task)) != nil }

    static func remove(_ task: URLSessionTask) {
        // Released when the lock is open: what a span was told may be of the service's own types.
        let removed = part(of: key(task)).requests.withLock { $0.removeValue(forKey: key(task)) }
        if removed != nil { count.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Removes the request of a task that may be gone, and not another one at its address.
    ///
    /// - Parameter isDue: asked once more when nobody else can change it.
    static func remove(_ observation: RequestObservation, at key: Key, where isDue: () -> Bool = { true }) {
        let isRemoved = part(of: key).requests.withLock { requests in
            guard requests[key] === observation, isDue() else { return false }
            requests[key] = nil
            return true
        }
        if isRemoved { count.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// The requests for which it is true, each looked at when no lock is held.
    private static func all(
        where isWanted: (RequestObservation) -> Bool
    ) -> [(key: Key, value: RequestObservation)] {
        parts.flatMap { part in
            part.requests.withLock { requests in requests.map { ($0.key, $0.value) } }.filter { isWanted($0.1) }
        }
    }

    /// Requests that ended without their loader's client being told.
    static var endedUnseen: [(key: Key, value: RequestObservation)] { all { $0.unseenEnd != nil } }

    /// To be called before capture is switched on again. In the meantime a task that waited for a loader may have ended
    /// unseen, and another one may have its address: that one is not to be taken for it. Scopes have a switch of their own.
    static func forgetWaiting() {
        for (key, observation) in all(where: { $0.start.scope == nil && $0.waitsForLoader }) {
            remove(observation, at: key)
            _ = observation.end()
        }
    }

    /// How many there are of the scope, and the age of the oldest; not those that counted as hung.
    ///
    /// - Parameter scope: `nil` for those that began outside any.
    static func summary(in scope: CaptureScope?) -> (count: Int, oldest: Duration) {
        let starts = all { $0.start.scope === scope && $0.stage == .begun }.map(\.value.start.monotonic)
        let now = Clock.monotonic()
        return (starts.count, .nanoseconds(Int64(clamping: starts.min().map { now - min(now, $0) } ?? 0)))
    }

    /// Roughly what all of them hold, those that wait for their loader too.
    static var estimatedBytes: Int { count.load(ordering: .relaxed) * bytes }

    /// Those that are older than `age` and did not end. They stay known until their task ends, so that what becomes of
    /// them is not another request.
    static func hung(after age: Duration) -> [RequestObservation] {
        forgetAbandoned()
        return all { $0.stage == .begun && Clock.hasPassed(age, since: $0.start.monotonic) }.map(\.value)
    }

    static func forgetAbandoned() {
        let isAbandoned = { (observation: RequestObservation) in
            observation.stage == .resumed && Clock.hasPassed(longestWayToLoader, since: observation.start.monotonic)
        }
        for (key, observation) in all(where: isAbandoned) {
            remove(observation, at: key) { isAbandoned(observation) }
        }
    }
}
#endif
