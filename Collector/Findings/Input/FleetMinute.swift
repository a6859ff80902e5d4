import Foundation

/// What the detector learns of a minute. An adapter fills it from the store once a minute, a few seconds after the minute's end:
///
/// | part | from the store |
/// |---|---|
/// | ``rows``, counts and durations | `StatisticsQuery(by: [.service, .kind, .method, .host, .endpoint], step: 10 s)` over the last three minutes, `slotScale` 2: requests, failures and hung requests are `RequestGroup.outcomes`, durations its distributions |
/// | ``rows``, statuses | the same with `.status`, filtered by `4xx`; only groups with requests |
/// | ``processes`` | `agents(seenSince:)`: resource, `lastSeen`, `process` (memory) |
/// | ``losses`` | the growth of each agent's ledger since the last minute |
/// | ``waits`` | `ProcessQuery(step: 10 s)`: the longest wait for a thread of each service and slot |
/// | ``ends`` | the reports of processes about the ones before them (`martlet.process.end`) that arrived in the minute |
///
/// Rows may be left out if neither the minute nor the ones before it have changed.
package struct FleetMinute: Sendable {
    /// The minute that has ended.
    package var minute: Minute
    /// The counts of this minute, and again those of earlier minutes that have changed since. The latter replace what was there.
    package var rows: [RowMinute] = []
    /// The processes that reported in this minute.
    package var processes: [ProcessReport] = []
    package var waits: [ThreadWait] = []
    package var ends: [ProcessEnd] = []
    package var losses: [LostRequests] = []

    package init(minute: Minute) { self.minute = minute }
}

/// The requests of a row in a minute.
package struct RowMinute: Sendable {
    package var row: FindingRow
    package var minute: Minute
    /// Its six slots of 10 s, in order. What only coarser points tell may stand in one of them.
    package var slots: [SlotCounts]

    package init(row: FindingRow, minute: Minute, slots: [SlotCounts]) {
        (self.row, self.minute, self.slots) = (row, minute, slots)
    }
}

/// The requests of a row in 10 s.
package struct SlotCounts: Sendable, Equatable {
    /// Requests that ended, whatever their outcome.
    package var requests: UInt32 = 0
    /// Those that failed. Cancelled ones did not.
    package var failures: UInt32 = 0
    /// Requests that have had no answer for five minutes. They are not among ``requests``.
    package var hung: UInt32 = 0
    /// Requests by coarse bucket of their duration: see ``CoarseBuckets``.
    package var durations: [BucketCount] = []
    /// Requests by status, of those from 400 to 499.
    package var statuses: [StatusCount] = []

    package init() {}
}

/// Coarse buckets of durations: four an octave, from 50 µs to half an hour, so that a bucket is 19 % wide. They are the buckets of
/// an exponential histogram of scale 2, with bucket 0 for all that is shorter.
package enum CoarseBuckets {
    package static let count = 100
    /// What is added to the index of a histogram of scale 2.
    package static let shift = 57

    /// Returns the coarse bucket of a bucket of scale 2.
    package static func bucket(ofIndex index: Int) -> Int { min(max(index + shift, 0), count - 1) }

    /// Returns the lower bound of a bucket, in seconds.
    static func lowerBound(_ bucket: Int) -> Double { exp2(Double(bucket - shift) / 4) }

    /// Returns the geometric mean of a bucket's bounds, in seconds.
    static func middle(_ bucket: Int) -> Double { exp2((Double(bucket - shift) + 0.5) / 4) }
}

package struct BucketCount: Sendable, Equatable {
    package let bucket: Int
    package let count: UInt32

    /// - Parameter bucket: a coarse bucket; the nearest one if there is no such.
    package init(bucket: Int, count: UInt32) {
        self.bucket = min(max(bucket, 0), CoarseBuckets.count - 1)
        self.count = count
    }
}

package struct StatusCount: Sendable, Equatable {
    package var status: Int
    package var count: UInt32

    package init(status: Int, count: UInt32) { (self.status, self.count) = (status, count) }
}
