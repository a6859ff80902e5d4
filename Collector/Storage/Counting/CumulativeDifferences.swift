import MartletPoints
import MartletTelemetry

/// The new requests in a sender's cumulative points: the difference of each point to the one before it in its stream. Pure.
///
/// A stream belongs to a sender and a start: processes that share a resource, because it names no instance, have different
/// starts, and so has a process that was started anew.
package struct CumulativeDifferences {
    package struct Stream: Sendable, Hashable {
        package let id: StreamID
        /// The time that the process counts from, by its clock; 0 if it does not tell that time.
        package let start: UnixNanoseconds

        package init(_ cumulative: CumulativePoint) {
            id = cumulative.stream
            start = cumulative.point.start
        }
    }

    /// The latest point of a stream: the figures since its start.
    package struct LatestPoint: Sendable, Equatable {
        package var end: UnixNanoseconds
        /// The length of the durations' unit, in seconds.
        package var unit: Double
        package var statistics: RequestStatistics

        package init(end: UnixNanoseconds, unit: Double, statistics: RequestStatistics) {
            self.end = end
            self.unit = unit
            self.statistics = statistics
        }

        fileprivate var inSeconds: RequestStatistics { statistics.inSeconds(from: unit) }

        /// Returns the requests since `last`, with durations in seconds; `nil` for a late point. If a count fell, the stream
        /// began anew without a new start. If a point has an earlier end but counted further, its clock was set back.
        fileprivate func new(since last: LatestPoint) -> RequestStatistics? {
            let difference = difference(since: last)
            guard end <= last.end else { return difference ?? inSeconds }
            guard end < last.end, let difference, !difference.isEmpty else { return nil }
            return difference
        }

        private func difference(since last: LatestPoint) -> RequestStatistics? {
            guard last.unit == unit else { return inSeconds.difference(since: last.inSeconds) }
            return statistics.difference(since: last.statistics)?.inSeconds(from: unit)
        }
    }

    /// The latest point of each stream that is known.
    package private(set) var latestPoints: [Stream: LatestPoint]
    private let damaged: Set<Stream>
    private let history: CumulativeHistory
    private let maxFirstInterval: UnixNanoseconds
    private var sums = IntervalSums()

    /// - Parameters:
    ///   - latestPoints: the latest points of the streams that will be added, as far as they are known.
    ///   - damaged: streams whose latest point cannot be read, so that their next point tells nothing about new requests.
    ///   - history: the sender's reports; it may be empty if all streams are known.
    ///   - maxFirstInterval: the longest interval that is accepted from an unknown process, in nanoseconds.
    package init(
        since latestPoints: [Stream: LatestPoint], damaged: Set<Stream>, _ history: CumulativeHistory,
        firstIntervalAtMost maxFirstInterval: UnixNanoseconds
    ) {
        self.latestPoints = latestPoints
        self.damaged = damaged
        self.history = history
        self.maxFirstInterval = maxFirstInterval
    }

    /// The new requests.
    package var points: [RequestPoint] { sums.points }

    /// Adds points in any order. A point that counted no further adds nothing.
    package mutating func add(_ points: [CumulativePoint]) {
        for point in points.sorted(by: { $0.point.end < $1.point.end }) { add(point) }
    }

    private mutating func add(_ cumulative: CumulativePoint) {
        let (stream, point) = (Stream(cumulative), cumulative.point)
        let latest = LatestPoint(end: point.end, unit: cumulative.unit, statistics: point.statistics)
        if let last = latestPoints[stream] {
            guard let new = latest.new(since: last) else { return }
            sums.add(new, from: min(last.end, point.end), to: point)
        } else if !damaged.contains(stream),
            let start = history.startOfFirstInterval(of: point, atMost: maxFirstInterval)
        {
            sums.add(latest.inSeconds, from: start, to: point)
        }
        latestPoints[stream] = latest
    }
}

/// Adds up the statistics of each series and interval: streams may differ in attributes that are no dimension, and durations
/// and sizes are different metrics.
private struct IntervalSums {
    private struct Key: Hashable {
        var dimensions: RequestDimensions
        var start: UnixNanoseconds
        var end: UnixNanoseconds
    }

    private var sums = StatisticsSums<Key>()

    var points: [RequestPoint] {
        sums.all.map { key, statistics in
            RequestPoint(dimensions: key.dimensions, start: key.start, end: key.end, statistics: statistics)
        }
    }

    mutating func add(_ statistics: RequestStatistics, from start: UnixNanoseconds, to point: RequestPoint) {
        guard !statistics.isEmpty else { return }
        var statistics = statistics
        statistics.duration = statistics.duration.distributed
        sums.add(statistics, to: Key(dimensions: point.dimensions, start: start, end: point.end))
    }
}
