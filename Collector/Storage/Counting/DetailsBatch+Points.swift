import MartletPoints
import MartletTelemetry

extension DetailsBatch {
    /// The length of the intervals that spans are counted in, in nanoseconds.
    private static let interval: UnixNanoseconds = 10 * 1_000_000_000

    /// The requests among the spans as points of ``StatisticsSource/spans``, grouped by when they ended. Empty for a Martlet
    /// agent, which counts every request in its metrics.
    package var points: [RequestPoint] {
        guard !resource.isMartlet else { return [] }
        let spans = details.filter { $0.request != nil }
        return Dictionary(grouping: spans) { $0.end / Self.interval }.values.flatMap(Self.points)
    }

    /// Returns a point for each series of an interval.
    ///
    /// - Parameter spans: the requests that ended in one interval. The points end with the last of them, so that no point
    ///   lies in the future.
    private static func points(ofInterval spans: [SpanRecord]) -> [RequestPoint] {
        let end = spans.map(\.end).max() ?? 0
        var series = StatisticsSums<RequestDimensions>()
        for span in spans {
            guard var dimensions = span.request else { continue }
            dimensions.source = .spans
            var statistics = RequestStatistics()
            statistics.record(
                seconds: Double(span.durationNanoseconds) / 1e9, bytesSent: span.bytesSent,
                bytesReceived: span.bytesReceived)
            series.add(statistics, to: dimensions)
        }
        return series.all.map { dimensions, statistics in
            RequestPoint(
                dimensions: dimensions, start: end / interval * interval, end: end, statistics: statistics)
        }
    }
}

extension SpanRecord {
    fileprivate var end: UnixNanoseconds { start &+ durationNanoseconds }
}
