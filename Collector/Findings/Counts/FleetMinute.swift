import Foundation

/// The detector's input for a minute. An adapter fills it from the store once a minute, some ten seconds after the minute's
/// end, for the engine of each environment. After a start the adapter replays the last three hours.
///
/// ``rows``: a `StatisticsQuery` for the minute, and again for the two before it because points come late. It has
/// `by: [.service, .kind, .method, .host, .endpoint]`, a `step` of 10 s and a `slotScale` of 2. One query for each minute keeps
/// groups times slots below ClickHouse's limit (20,000) for 3,000 rows. Of each slot's `RequestGroup`:
/// - ``SlotCounts/requests`` are the requests without hung ones (`outcomes`);
/// - ``SlotCounts/failures`` are the failed ones without hung ones;
/// - ``SlotCounts/durations`` are the buckets of both distributions at scale 2, by ``CoarseBuckets/bucket(ofIndex:)``;
/// - ``SlotCounts/statuses`` come from the same query with `.status`, filtered by `4xx`.
///
/// ``processes``: `histories(in:_:)`, the reports of each sender in the minute. ``losses``: the growth of their losses since the
/// report before.
///
/// ``waits``: `processes(_:)` with a `step` of 10 s. The greatest sample of `poolDelay` in each service's slot.
///
/// ``ends``: `processEnds(in:_:limit:)`, without clean ones. A process reports the end of the one before it once it runs, so each
/// minute has again the ends of the time that is kept. The detector takes each once.
package struct FleetMinute: Sendable {
    /// The minute that has ended.
    package var minute: Minute
    /// The counts of this minute, and again those of earlier minutes that have changed since. The latter replace what was
    /// there.
    package var rows: [RowMinute] = []
    /// The processes that reported in this minute, and again those of earlier minutes that are read again.
    package var processes: [ReportedProcess] = []
    package var waits: [ThreadWait] = []
    package var ends: [ProcessEnd] = []
    package var losses: [LostRequests] = []
    /// The services that answered at a called host, as kept spans show. Many servers do not say by which host they were called.
    package var callees: [String: Set<String>] = [:]
    /// Whether all senders have had time to deliver the minute. After a time without a collector, one delivers later than another.
    package var isSettled = true

    package init(minute: Minute) { self.minute = minute }

    /// Whether nothing was seen of the fleet.
    var isEmpty: Bool { rows.isEmpty && processes.isEmpty }
}

/// The requests of a row in a minute.
package struct RowMinute: Sendable {
    package var row: FindingRow
    package var minute: Minute
    /// Its six slots of 10 s, in order. The requests of a coarser point are all in one of them.
    package var slots: [SlotCounts]

    package init(row: FindingRow, minute: Minute, slots: [SlotCounts]) {
        (self.row, self.minute, self.slots) = (row, minute, slots)
    }
}

/// The requests of a row in 10 s.
package struct SlotCounts: Sendable, Equatable {
    /// Requests that ended, whatever their outcome.
    package var requests: UInt32 = 0
    /// Failed requests. Cancelled ones did not fail.
    package var failures: UInt32 = 0
    /// Requests that have had no answer for five minutes. They are not among ``requests``.
    package var hung: UInt32 = 0
    /// Requests by coarse bucket of their duration: see ``CoarseBuckets``.
    package var durations: [BucketCount] = []
    /// Requests by status, of those from 400 to 499.
    package var statuses: [StatusCount] = []

    package init() {}
}

/// Coarse buckets of durations: four an octave, from 50 µs to half an hour, so that a bucket is 19 % wide. They are the buckets
/// of an exponential histogram of scale 2, with bucket 0 for all that is shorter.
package enum CoarseBuckets {
    package static let count = 100
    /// The difference between a coarse bucket and the index of a histogram of scale 2.
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
