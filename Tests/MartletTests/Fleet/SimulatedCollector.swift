import Foundation

@testable import Martlet

/// A collector that stores one batch after the other, and has room for a number of requests in work. Any further one gets a 429.
struct SimulatedCollector {
    /// Nanoseconds that a batch takes.
    let service: UInt64
    /// Requests in work at a time.
    let room: Int
    /// The answer's `Retry-After`.
    let retryAfter: Duration
    let store: String
    /// The time for which it is away, by the virtual clock.
    let away: Range<UInt64>
    private(set) var refusals = 0
    private(set) var stored = 0
    /// Batches that were stored when their sender had given up waiting.
    private(set) var late = 0
    private(set) var longestAnswer: UInt64 = 0
    private(set) var latest: UInt64 = 0
    /// The times at which the requests in work are done, from the index on; earlier ones are done.
    private var done: [UInt64] = []
    private var first = 0

    init(service: UInt64, room: Int, retryAfter: Duration, store: String, away: Range<UInt64>) {
        (self.service, self.room, self.retryAfter, self.store, self.away) = (service, room, retryAfter, store, away)
    }

    /// Takes an upload.
    ///
    /// - Returns: its end, and the time of it.
    mutating func take(at now: UInt64, timeout: UInt64) -> (end: UploadEnd, time: UInt64) {
        if away.contains(now) { return (.failed(mayHaveArrived: false, reason: "refused"), now + Self.roundTrip) }
        while first < done.count, done[first] <= now { first += 1 }
        if first > 100_000 {
            done.removeFirst(first)
            first = 0
        }
        guard done.count - first < room else {
            refusals += 1
            let refusal = UploadAnswer(status: 429, retryAfter: retryAfter, store: ShortDigest(store: store))
            return (.answered(refusal), now + Self.roundTrip)
        }
        let end = max(now, done.last ?? 0) + service
        done.append(end)
        let answer = end + Self.roundTrip - now
        longestAnswer = max(longestAnswer, answer)
        guard answer <= timeout else {
            late += 1
            return (.failed(mayHaveArrived: true, reason: "no answer in time"), now + timeout)
        }
        stored += 1
        latest = end
        return (.answered(UploadAnswer(status: 200, store: ShortDigest(store: store))), end + Self.roundTrip)
    }

    /// Nanoseconds.
    private static let roundTrip: UInt64 = 1_000_000
}
