import MartletTelemetry

/// The revisions of differences: of two passes that took the same difference, the one that saw more of the stream's points before
/// it holds, because points only become visible. Between equals the later one holds.
struct CumulativeRevisions<Stream: Hashable> {
    /// The time before a point in which the points of its stream count, in nanoseconds. Every pass reads them.
    static var reach: Int64 { 600 * 1_000_000_000 }

    private struct Point: Hashable {
        let time: Int64
        let end: UnixNanoseconds
    }

    private var points: [Stream: Set<Point>] = [:]
    private let time: UInt64

    /// - Parameter time: ClickHouse's clock before the points were read, in seconds since 1970.
    init(time: UInt64) { self.time = time }

    /// Takes note of a point that the pass has seen.
    ///
    /// - Parameters:
    ///   - time: the time at which it came.
    ///   - end: its end. A point with the same end that came at another time is another one.
    mutating func note(_ stream: Stream, time: Int64, end: UnixNanoseconds) {
        points[stream, default: []].insert(Point(time: time, end: end))
    }

    /// Returns the revision of the difference that a point of a stream has.
    func revision(of stream: Stream, at time: Int64) -> UInt64 {
        let seen = points[stream]?.count { $0.time <= time && $0.time > time - Self.reach } ?? 0
        return UInt64(seen) << 40 | (self.time & (1 << 40 - 1))
    }
}
