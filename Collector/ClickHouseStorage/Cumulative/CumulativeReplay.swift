import MartletPoints
import MartletStorage
import MartletTelemetry

/// The differences of a sender's cumulative points, which are added in the order in which they came: the state of
/// ``CumulativeDifferences`` from point to point. Pure.
struct CumulativeReplay {
    private typealias Stream = CumulativeDifferences.Stream

    private var latest: [Stream: CumulativeDifferences.LatestPoint] = [:]
    private var ends: [UnixNanoseconds: Set<UnixNanoseconds>]
    private let firstInterval: UnixNanoseconds

    /// - Parameters:
    ///   - ends: the ends that the sender's processes reported before, by their start.
    ///   - firstInterval: the longest interval that is accepted from an unknown process, in nanoseconds.
    init(ends: [UnixNanoseconds: Set<UnixNanoseconds>], firstIntervalAtMost firstInterval: UnixNanoseconds) {
        self.ends = ends
        self.firstInterval = firstInterval
    }

    /// Takes note of points that came together and were counted before.
    mutating func remember(_ points: [CumulativePoint]) {
        for cumulative in points.sorted(by: { $0.point.end < $1.point.end }) where latest[Stream(cumulative)] == nil {
            latest[Stream(cumulative)] = CumulativeDifferences.LatestPoint(
                end: cumulative.point.end, unit: cumulative.unit, statistics: cumulative.point.statistics)
        }
        _ = differences(of: points)
    }

    /// Adds points that came together, and returns each with its difference to the one before it; `nil` for a point that tells
    /// of no new requests.
    mutating func differences(of points: [CumulativePoint]) -> [(point: CumulativePoint, difference: RequestPoint?)] {
        let isAllKnown = points.allSatisfy { latest[Stream($0)] != nil }
        let history = isAllKnown ? CumulativeHistory() : CumulativeHistory(ends: ends.mapValues(Array.init))
        let found = points.sorted { $0.point.end < $1.point.end }.map { cumulative in
            let stream = Stream(cumulative)
            var one = CumulativeDifferences(
                since: latest[stream].map { [stream: $0] } ?? [:], damaged: [], history,
                firstIntervalAtMost: firstInterval)
            one.add([cumulative])
            latest[stream] = one.latestPoints[stream]
            return (point: cumulative, difference: one.points.first)
        }
        for cumulative in points { ends[cumulative.point.start, default: []].insert(cumulative.point.end) }
        return found
    }
}
