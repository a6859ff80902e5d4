import MartletTelemetry

/// The writers of one cumulative stream: usually one process. Several share a stream if a process forks after its SDK was made,
/// because the children have the same resource and the same start. Each writer's figures only grow, so figures that fell belong
/// to another writer (OpenTelemetry specification, "Metrics Data Model", sections "Resets and Gaps" and "Overlap"). Pure.
///
/// A point belongs to the writer whose latest figures it exceeds by the fewest requests. If it belongs to another writer instead,
/// too few requests count until that writer's next points, and seldom too many: for 2 to 8 simulated writers, exported in random
/// order, late, twice and with replaced workers, 4 % too few to 4 % too many.
package struct StreamWriters: Sendable {
    /// The largest number of writers of a stream.
    package static let limit = 32
    /// The time without a report after which another writer may take a writer's place if there are ``limit``, in nanoseconds.
    private static let silence: UnixNanoseconds = 900 * 1_000_000_000
    /// A point is late if it ends at least this much earlier than a known point of the same writer, in nanoseconds. Writers
    /// that export together differ by less.
    private static let lateness: UnixNanoseconds = 1_000_000_000

    package typealias LatestPoint = CumulativeDifferences.LatestPoint

    /// The latest point of each writer. A writer keeps its position.
    package private(set) var latest: [LatestPoint]
    /// Whether the first point of a writer counts from the stream's start. It does not if the stream's own first point did not
    /// count, because the writers may be as old.
    package let countsNewWriters: Bool
    /// Whether several processes certainly wrote at the same time: a writer went on after a point of another one.
    package private(set) var isShared: Bool
    /// The positions of ``latest`` that changed.
    package private(set) var changed: Set<Int> = []

    package init(_ latest: [LatestPoint], countsNewWriters: Bool, isShared: Bool = false) {
        self.latest = latest
        self.countsNewWriters = countsNewWriters
        self.isShared = isShared
    }

    /// Creates the stream from its first point.
    init(first point: LatestPoint, countsNewWriters: Bool) {
        self.init([], countsNewWriters: countsNewWriters)
        set(point, at: 0)
    }

    /// The new requests of a point, with durations in seconds, and the start of the interval in which they occurred.
    typealias New = (statistics: RequestStatistics, start: UnixNanoseconds)

    /// Adds a point. Returns `nil` if it has no new requests.
    ///
    /// - Parameter room: the largest number of writers that are followed.
    mutating func add(_ point: LatestPoint, room: Int) -> New? {
        guard !isKnown(point) else { return nil }
        if let next = successor(for: point) { return extend(next, by: point) }
        return open(point, room: room)
    }

    /// Whether the point has come before, or is late: its writer has sent a later one.
    private func isKnown(_ point: LatestPoint) -> Bool {
        latest.contains { known in
            // No lower figure shows that a point of the same moment is another writer's.
            if known.end == point.end { return point.difference(since: known) != nil }
            return known.end >= point.end &+ Self.lateness && known.difference(since: point) != nil
        }
    }

    private typealias Successor = (index: Int, new: RequestStatistics)

    /// Returns the writer that the point continues: with the same buckets or higher ones, then with a higher count and sum (its
    /// bounds changed, or another writer took its last point), then one whose clock was set back.
    private func successor(for point: LatestPoint) -> Successor? {
        let earlier = latest.indices.filter { latest[$0].end < point.end }
        return closest(earlier) { point.difference(since: latest[$0]) }
            ?? closest(earlier) { point.growth(since: latest[$0], ofOneWriter: latest.count == 1) }
            ?? closest(latest.indices.filter { latest[$0].end > point.end }) { index in
                point.difference(since: latest[index]).flatMap { $0.isEmpty ? nil : $0 }
            }
    }

    /// Returns the writer with the fewest new requests, and of several the one that reported last.
    private func closest(_ indices: [Int], _ new: (Int) -> RequestStatistics?) -> Successor? {
        indices.compactMap { index in new(index).map { (index, $0) } }
            .min { ($0.new.weight, latest[$1.index].end) < ($1.new.weight, latest[$0.index].end) }
    }

    private mutating func extend(_ next: Successor, by point: LatestPoint) -> New {
        let last = latest[next.index]
        if latest.contains(where: { $0.end > last.end && $0.end <= point.end }) { isShared = true }
        set(point, at: next.index)
        return (next.new, min(last.end, point.end))
    }

    /// Follows another writer. If there is no room, its requests do not count now; otherwise they would with each of its points.
    private mutating func open(_ point: LatestPoint, room: Int) -> New? {
        guard let index = latest.count < min(room, Self.limit) ? latest.count : silent(at: point.end) else {
            isShared = true
            return nil
        }
        let start = latest.map(\.end).filter { $0 < point.end }.max() ?? point.end
        set(point, at: index)
        return countsNewWriters ? (point.inSeconds, start) : nil
    }

    /// The writer that has been silent longest, if it has been silent long enough.
    private func silent(at time: UnixNanoseconds) -> Int? {
        latest.indices.min { latest[$0].end < latest[$1].end }.flatMap {
            time >= latest[$0].end &+ Self.silence ? $0 : nil
        }
    }

    private mutating func set(_ point: LatestPoint, at index: Int) {
        if index < latest.count { latest[index] = point } else { latest.append(point) }
        changed.insert(index)
    }
}

extension CumulativeDifferences.LatestPoint {
    var inSeconds: RequestStatistics { statistics.inSeconds(from: unit) }

    /// Returns the requests since `last`, with durations in seconds; `nil` if a count fell.
    fileprivate func difference(since last: Self) -> RequestStatistics? {
        let difference =
            last.unit == unit
            ? statistics.difference(since: last.statistics)?.inSeconds(from: unit)
            : inSeconds.difference(since: last.inSeconds)
        // `last` is another writer's if the sum fell by more than rounding.
        guard let difference, difference.requests > 0, difference.duration.sum == 0,
            inSeconds.duration.sum < last.inSeconds.duration.sum
        else { return difference }
        return growth(since: last, ofOneWriter: false) ?? difference
    }

    /// Returns the growth of the count and of the sum, at the mean of what is new; `nil` if the count fell.
    ///
    /// - Parameter ofOneWriter: whether the stream has had one writer only. Then both grow if it changed its bounds.
    fileprivate func growth(since last: Self, ofOneWriter: Bool) -> RequestStatistics? {
        let (new, old) = (inSeconds.duration, last.inSeconds.duration)
        guard new.count > 0, new.count >= old.count else { return nil }
        if ofOneWriter { guard new.count > old.count, new.sum >= old.sum else { return nil } }
        let count = new.count - old.count
        guard count > 0 else { return RequestStatistics() }
        let sum = new.sum >= old.sum ? new.sum - old.sum : new.mean * Double(count)
        let duration = ExponentialHistogram(
            [(value: 0, count: count)], scale: new.scale, sum: sum, min: nil, max: nil)
        return RequestStatistics(duration: duration, bytesSent: 0, bytesReceived: 0)
    }
}

extension RequestStatistics {
    /// Requests or bytes: a stream has one of them.
    fileprivate var weight: UInt64 { requests &+ bytesSent &+ bytesReceived }
}
