import MartletTelemetry

/// The revisions of differences: of two passes that took the same difference, the one that saw more of the stream's points before
/// it holds, because points only become visible. Between equals the later one holds.
struct CumulativeRevisions<Stream: Hashable> {
    /// The time before a point in which the points of its stream count, in nanoseconds. Every pass reads them.
    static var reach: Int64 { 600 * 1_000_000_000 }

    /// A point that a pass has seen.
    struct Point: Hashable {
        let stream: Stream
        /// The time at which it came.
        let time: Int64
        /// A point with the same end that came at another time is another one.
        let end: UnixNanoseconds
    }

    /// The times of each stream's points, in order.
    private let times: [Stream: [Int64]]
    private let time: UInt64

    /// - Parameters:
    ///   - points: the points that the pass has seen. One that stands there twice counts once.
    ///   - time: ClickHouse's clock before the points were read, in seconds since 1970.
    init(of points: some Sequence<Point>, time: UInt64) {
        times = Dictionary(grouping: Set(points), by: \.stream).mapValues { $0.map(\.time).sorted() }
        self.time = time
    }

    /// Returns the revision of the difference that a point of a stream has.
    func revision(of stream: Stream, at time: Int64) -> UInt64 {
        let times = times[stream] ?? []
        let seen = Self.count(of: times, upTo: time) - Self.count(of: times, upTo: time - Self.reach)
        return UInt64(seen) << 40 | (self.time & (1 << 40 - 1))
    }

    /// Returns the number of times that are not later than another, by halves: a stream of days has many.
    private static func count(of times: [Int64], upTo last: Int64) -> Int {
        var range = times.startIndex..<times.endIndex
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            range = times[middle] <= last ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
