import MartletTelemetry

/// Computes the new requests in a sender's cumulative points: the difference between each point and the one before it of its
/// writer. Pure.
///
/// A sender, an id and a start identify a stream. If a resource names no instance, several processes share the resource, and
/// their starts distinguish them. A restarted process also has a new start. Processes with the same start are the
/// ``StreamWriters`` of one stream.
package struct CumulativeDifferences {
    package struct Stream: Sendable, Hashable {
        package let id: StreamID
        /// The time that the process counts from, by its clock; 0 if unknown.
        package let start: UnixNanoseconds

        package init(_ cumulative: CumulativePoint) {
            id = cumulative.stream
            start = cumulative.point.start
        }
    }

    /// The latest point of a writer of a stream, with all figures since the stream's start.
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

        package init(_ cumulative: CumulativePoint) {
            self.init(
                end: cumulative.point.end, unit: cumulative.unit, statistics: cumulative.point.statistics)
        }
    }

    /// The known streams.
    package private(set) var streams: [Stream: StreamWriters]
    private let damaged: Set<Stream>
    private let history: CumulativeHistory
    private let maxFirstInterval: UnixNanoseconds
    private let maxWriters: Int
    private var sums = IntervalSums()

    /// - Parameters:
    ///   - streams: the known ones of the streams whose points will be added.
    ///   - damaged: streams whose latest point cannot be read. Their next point adds no new requests.
    ///   - history: the sender's reports. It may be empty if all streams are known.
    ///   - maxFirstInterval: the longest accepted first interval of an unknown process, in nanoseconds.
    ///   - maxWriters: the number of writers of a stream past which no new one is followed.
    package init(
        since streams: [Stream: StreamWriters], damaged: Set<Stream>, _ history: CumulativeHistory,
        firstIntervalAtMost maxFirstInterval: UnixNanoseconds, writersAtMost maxWriters: Int = StreamWriters.limit
    ) {
        self.streams = streams
        self.damaged = damaged
        self.history = history
        self.maxFirstInterval = maxFirstInterval
        self.maxWriters = maxWriters
    }

    /// The new requests.
    package var points: [RequestPoint] { sums.points }

    /// Adds points in any order. A point whose counts have not grown adds nothing.
    package mutating func add(_ points: [CumulativePoint]) {
        for point in points.sorted(by: { $0.point.end < $1.point.end }) { add(point) }
    }

    private mutating func add(_ cumulative: CumulativePoint) {
        let (stream, point) = (Stream(cumulative), cumulative.point)
        let latest = LatestPoint(cumulative)
        guard streams[stream] == nil else {
            guard let new = streams[stream]?.add(latest, room: maxWriters) else { return }
            return sums.add(new.statistics, from: new.start, to: point)
        }
        let isDamaged = damaged.contains(stream)
        let start = isDamaged ? nil : history.startOfFirstInterval(of: point, atMost: maxFirstInterval)
        if let start { sums.add(latest.inSeconds, from: start, to: point) }
        streams[stream] = StreamWriters(first: latest, countsNewWriters: start != nil)
    }
}

/// The sums of the statistics by series and interval. Several streams may belong to one series, because they may differ in
/// other attributes, and because durations and sizes are separate metrics.
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

/// The latest reports of a sender's processes, by the start that each process counts from. They decide which interval the first
/// point of a stream covers. Pure.
package struct CumulativeHistory: Sendable, Equatable {
    /// The ends of the latest reports, in ascending order, by the process's start.
    private let ends: [UnixNanoseconds: [UnixNanoseconds]]
    private let forgottenUntil: UnixNanoseconds

    /// - Parameters:
    ///   - ends: the ends of each stream's last two reports, by the process's start. One report is not enough, because a process
    ///     may send one collection in several requests.
    ///   - forgottenUntil: the latest end among the sender's forgotten processes; 0 if none was forgotten.
    package init(ends: [UnixNanoseconds: [UnixNanoseconds]] = [:], forgottenUntil: UnixNanoseconds = 0) {
        self.ends = ends.mapValues { $0.sorted() }
        self.forgottenUntil = forgottenUntil
    }

    /// Returns the start of the interval that a stream's first point covers. Returns `nil` if its requests may be too old to count
    /// as new.
    ///
    /// - Parameter length: the longest accepted interval of an unknown process, in nanoseconds.
    func startOfFirstInterval(of point: RequestPoint, atMost length: UnixNanoseconds) -> UnixNanoseconds? {
        // A sender that does not know its start begins with a point of length zero (specification, "Metrics Data Model", section
        // "Cumulative streams: handling unknown start time").
        guard point.start < point.end else { return nil }
        // An earlier report of the same process lacks this stream, so the stream had counted nothing at that time.
        if let last = ends[point.start]?.last(where: { $0 < point.end }) { return max(last, point.start) }
        // The process began after every report of this sender.
        let last = max(ends.values.compactMap(\.last).max() ?? 0, forgottenUntil)
        if last > 0, last <= point.start { return point.start }
        // A process that began earlier may already have been counted and forgotten.
        guard point.start >= forgottenUntil else { return nil }
        return point.start > 0 && point.end - point.start <= length ? point.start : nil
    }
}

/// Sums of statistics by key. Their memory grows with the amount added, not with the spread of the values. In contrast, a
/// single sketch has every bucket between its smallest and its largest value, so a sketch of two values can take 32 KiB.
struct StatisticsSums<Key: Hashable> {
    /// The number of buckets that each addition adds to the limit, besides the buckets that it contains.
    private static var bucketsOfOne: Int { 64 }

    private var sums: [Key: RequestStatistics] = [:]
    /// Statistics that are not merged, because the sums have reached their limit. A store accepts several points of one series.
    private var others: [(key: Key, statistics: RequestStatistics)] = []
    private var buckets = 0
    /// The largest number of buckets in the sums. It starts at the size of two of the largest sketches.
    private var room = 2 * ExponentialHistogram.maxBuckets

    init() {}

    /// The sums in no particular order; a key may occur more than once.
    var all: [(key: Key, statistics: RequestStatistics)] {
        sums.map { (key: $0, statistics: $1) } + others
    }

    mutating func add(_ statistics: RequestStatistics, to key: Key) {
        room += Self.bucketsOfOne + statistics.duration.bucketCount
        guard buckets <= room else { return others.append((key, statistics)) }
        buckets += Self.growth(of: &sums[key, default: RequestStatistics()], merging: statistics)
    }

    private static func growth(of sum: inout RequestStatistics, merging statistics: RequestStatistics) -> Int {
        let before = sum.duration.bucketCount
        sum.merge(statistics)
        return sum.duration.bucketCount - before
    }
}
