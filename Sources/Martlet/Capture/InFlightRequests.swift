#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry
import Synchronization

/// The process's requests that have begun and not ended, by the address of their task. A task keeps its address until
/// it ends, because its session holds it. A challenged task may end without a callback.
/// ``RequestObservation/isStale(at:)`` detects an entry whose address a new task has reused.
enum InFlightRequests {
    /// The largest number of known requests. Above it, a request is captured only from the start of its loader: it has
    /// no parent in the trace and never counts as hung.
    static let limit = 65_536
    /// The time that a task may be without a native loader. After that, the agent assumes that one of the service's own
    /// protocols has taken the task.
    static let maxTimeToLoader = Duration.seconds(60)

    /// An estimate of the memory for a request in flight, in bytes: 200 for its observation, 110 for its observer, and
    /// its entry here. The task holds the request itself.
    static let bytesPerRequest = 384

    /// A task's address.
    typealias Key = UInt

    /// A shard of the requests, with its own lock. A walk through all requests blocks `resume()` only while it reads
    /// one shard.
    private final class Shard: Sendable {
        let requests = ProcessLock<[Key: RequestObservation]>([:])
    }

    private static let shards = (0..<64).map { _ in Shard() }
    private static let count = Atomic<Int>(0)

    /// Returns the shard for a task. The address is mixed first, because objects lie at multiples of 16 and usually far
    /// apart.
    private static func shard(of key: Key) -> Shard {
        shards[Int(((key >> 4) &* 0x9E37_79B9_7F4A_7C15) >> 58)]
    }

    static func key(_ task: URLSessionTask) -> Key { UInt(bitPattern: Unmanaged.passUnretained(task).toOpaque()) }

    /// Notes that a task is resumed, on the caller's thread. A task that is resumed after a pause, or after an answered
    /// challenge, continues its request.
    ///
    /// - Returns: the replaced observation, perhaps of an earlier task at this address that ended without a callback;
    ///   `nil` for none.
    static func resume(_ task: URLSessionTask) -> RequestObservation? {
        let (key, new) = (key(task), RequestObservation())
        let (known, continues) = shard(of: key).requests.withLock { requests -> (RequestObservation?, Bool) in
            let known = requests[key]
            if let known, !known.isResumed, !known.isStale(at: task), !known.belongsToEndedScope {
                return (known, true)
            }
            if known != nil || reserveEntry() { requests[key] = new }
            return (known, false)
        }
        if continues { known?.noteResumed() }
        return continues ? nil : known
    }

    /// Returns the observation of a task whose loader starts, a new one if the task has none.
    static func observation(of task: URLSessionTask) -> RequestObservation {
        let key = key(task)
        // A stale observation is released outside the lock.
        let (observation, _) = shard(of: key).requests.withLock {
            requests -> (RequestObservation, RequestObservation?) in
            let known = requests[key]
            if let known, !known.belongsToEndedScope { return (known, nil) }
            let new = RequestObservation()
            if known != nil || reserveEntry() { requests[key] = new }
            return (new, known)
        }
        return observation
    }

    /// Counts one more entry. Returns `false` and counts nothing once the limit is reached.
    private static func reserveEntry() -> Bool {
        let isReserved = count.wrappingAdd(1, ordering: .relaxed).oldValue < limit
        if !isReserved { count.wrappingSubtract(1, ordering: .relaxed) }
        return isReserved
    }

    private static func known(at key: Key) -> RequestObservation? { shard(of: key).requests.withLock { $0[key] } }

    /// Sets the count to 0 in a forked child, which has none of its parent's requests.
    static func forgetParentsRequests() { count.store(0, ordering: .relaxed) }

    /// Returns the scope in which the task was resumed; `nil` outside any scope, and for an unknown task.
    static func scope(of task: URLSessionTask) -> CaptureScope? {
        guard CaptureSwitch.openScopes.load(ordering: .relaxed) > 0 else { return nil }
        return known(at: key(task))?.start.scope
    }

    /// Whether the task was resumed. An observation at its address may belong to an earlier task.
    static func knows(_ task: URLSessionTask) -> Bool {
        known(at: key(task)).map { !$0.belongsToEndedScope && !$0.isStale(at: task) } ?? false
    }

    static func remove(_ task: URLSessionTask) {
        // The observation is released outside the lock: its span may hold values of the service's types, whose
        // deinitializers may run any code.
        let removed = shard(of: key(task)).requests.withLock { $0.removeValue(forKey: key(task)) }
        if removed != nil { count.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Removes an observation whose task may be gone, unless its address has another observation.
    ///
    /// - Parameter isDue: a last check under the lock, when no other thread can change the entry.
    static func remove(_ observation: RequestObservation, at key: Key, where isDue: () -> Bool = { true }) {
        let isRemoved = shard(of: key).requests.withLock { requests in
            guard requests[key] === observation, isDue() else { return false }
            requests[key] = nil
            return true
        }
        if isRemoved { count.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Returns the requests for which `isWanted` is true. `isWanted` runs outside the locks.
    private static func all(
        where isWanted: (RequestObservation) -> Bool
    ) -> [(key: Key, value: RequestObservation)] {
        shards.flatMap { shard in
            shard.requests.withLock { requests in requests.map { ($0.key, $0.value) } }.filter { isWanted($0.1) }
        }
    }

    /// The requests that ended without a call to their loader's client.
    static var endedSilently: [(key: Key, value: RequestObservation)] { all { $0.silentEnd != nil } }

    /// Forgets requests that wait for a loader. Call it before capture is switched on again: while capture was off,
    /// such a task may have ended without a callback, and a later task may have its address. Requests of a scope stay,
    /// because each scope has its own switch.
    static func forgetWaiting() {
        for (key, observation) in all(where: { $0.start.scope == nil && $0.mayWaitForLoader }) {
            remove(observation, at: key)
            _ = observation.finish()
        }
    }

    /// Returns the number of the scope's requests that a loader has started, and the age of the oldest, without hung
    /// requests.
    ///
    /// - Parameter scope: `nil` for requests that began outside any scope.
    static func summary(in scope: CaptureScope?) -> (count: Int, oldest: Duration) {
        let starts = all { $0.start.scope === scope && $0.isLoading }.map(\.value.start.monotonic)
        let now = Clock.monotonic()
        return (starts.count, .nanoseconds(Int64(clamping: starts.min().map { now - min(now, $0) } ?? 0)))
    }

    /// An estimate of the memory for all requests in flight, in bytes, including requests that wait for their loader.
    static var estimatedBytes: Int { count.load(ordering: .relaxed) * bytesPerRequest }

    /// Returns the requests in flight for longer than `age`. They stay known until their task ends, so that their end
    /// does not count as another request.
    static func hung(after age: Duration) -> [RequestObservation] {
        forgetAbandoned()
        return all { $0.isLoading && Clock.hasPassed(age, since: $0.start.monotonic) }.map(\.value)
    }

    static func forgetAbandoned() {
        let isAbandoned = { (observation: RequestObservation) in
            observation.isResumed && Clock.hasPassed(maxTimeToLoader, since: observation.start.monotonic)
        }
        for (key, observation) in all(where: isAbandoned) {
            remove(observation, at: key) { isAbandoned(observation) }
        }
    }
}
#endif
