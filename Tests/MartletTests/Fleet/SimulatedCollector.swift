import Foundation

@testable import Martlet

/// A collector that stores one batch after the other, and handles a limited number of requests at once. Further ones
/// get a 429.
struct SimulatedCollector {
    /// Nanoseconds needed for a batch.
    let service: UInt64
    /// Requests that it handles at once.
    let room: Int
    /// The `Retry-After` of its answers.
    let retryAfter: Duration
    let store: String
    /// The time during which it is down, by the virtual clock.
    let away: Range<UInt64>
    private(set) var refusals = 0
    private(set) var stored = 0
    /// Batches that were stored after their sender had given up waiting.
    private(set) var late = 0
    private(set) var longestAnswer: UInt64 = 0
    private(set) var latest: UInt64 = 0
    /// When the current requests will be done, from the index on; earlier ones are done.
    private var done: [UInt64] = []
    private var first = 0

    init(service: UInt64, room: Int, retryAfter: Duration, store: String, away: Range<UInt64>) {
        (self.service, self.room, self.retryAfter, self.store, self.away) = (service, room, retryAfter, store, away)
    }

    /// Takes an upload.
    ///
    /// - Returns: its end, and when that happens.
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
