import MartletTelemetry

/// The times in which a sender's metrics cover its spans, by kind of request and called system. The metrics already report the
/// requests of covered spans, so these spans are not counted. Pure.
///
/// An SDK may have metrics of HTTP and none of databases. So metrics cover only spans with the same system.
///
/// Some instruments leave requests without an answer out of their metrics (.NET, Go before 2026, httpx). If no metrics with such
/// requests cover a failed span without a status, the span counts (``RequestClass/isUnansweredSpan``). Metrics that report such a
/// request always cover its span, so it never counts twice.
///
/// Each report makes this decision, because metrics arrive later than spans. Spans of Martlet's agents are never counted.
package struct MetricsCover: Sendable {
    /// The time before the start of metrics that still counts as covered, in nanoseconds. In some SDKs, metrics begin at the
    /// first measurement, and the span of the measured request may end just before that.
    package static let lead: UnixNanoseconds = 1_000_000_000

    /// The time after the end of metrics that still counts as covered, because the next metrics may follow, in nanoseconds. It
    /// exceeds any export interval.
    package static let patience: UnixNanoseconds = 3600 * 1_000_000_000

    /// The requests that metrics reported for a time. The raw value is a store's.
    package enum Reported: String, Sendable {
        case metrics
        /// Requests without an answer, which ``metrics`` include.
        case unanswered
    }

    private struct Range {
        let kind: RequestKind
        let system: SystemNumber
        let report: Reported
        let times: ClosedRange<Int64>
    }

    /// Ranges of one kind may overlap, because several senders may have reported the same time.
    private var ranges: [Range] = []

    package init() {}

    /// Adds a time for which metrics reported requests of a kind and to a system: from the first start to the last end, in
    /// nanoseconds since 1970, by the sender's clock.
    package mutating func insert(
        _ kind: RequestKind, _ system: String?, _ report: Reported = .metrics, from: Int64, to: Int64
    ) {
        let start = max(0, from) - Int64(clamping: Self.lead)
        let end = Int64(clamping: UInt64(clamping: max(from, to)) + Self.patience)
        ranges.append(
            Range(kind: kind, system: SystemNumber(system), report: report, times: start...max(start, end)))
    }

    /// Whether metrics cover requests from the sender's spans of an interval that ended at `end`.
    package func contains(_ requests: RequestClass, end: Int64) -> Bool {
        let report = requests.isUnansweredSpan ? Reported.unanswered : .metrics
        return ranges.contains {
            $0.kind == requests.kind && $0.report == report && $0.system.covers(requests.system)
                && $0.times.contains(end)
        }
    }

    /// Returns the number of the section that `end` lies in, from 0. A new section begins whenever metrics of one kind and system
    /// start or stop covering the sender's spans.
    package func section(of end: Int64) -> Int {
        ranges.reduce(0) { $0 + (end >= $1.times.lowerBound ? 1 : 0) + (end > $1.times.upperBound ? 1 : 0) }
    }
}

/// The name of a called system as a number, so that the loops over points copy and compare no texts.
package struct SystemNumber: Sendable, Hashable {
    private static let none = SystemNumber(nil)
    /// The system of series without room for their own one (``SeriesBudget``).
    private static let other = SystemNumber(RequestDimensions.other)

    private let hash: Int

    package init(_ name: String?) { hash = name?.hashValue ?? 0 }

    /// Whether metrics of this system cover spans of another one.
    fileprivate func covers(_ spans: SystemNumber) -> Bool { self == spans || (spans == .other && self != .none) }
}

extension DetailsBatch {
    /// The length of the intervals that spans are counted in, in nanoseconds. A window of whole seconds divides none of them.
    private static let interval: UnixNanoseconds = 1_000_000_000

    /// Returns the requests among the spans, as points of ``StatisticsSource/spans``, grouped by their end. Empty for a Martlet
    /// agent, which counts every request in its metrics.
    ///
    /// - Parameter stored: see ``RequestSpans/new(_:besides:)``.
    package func points(besides stored: [SpanRecord] = []) -> [RequestPoint] {
        guard !resource.isMartlet else { return [] }
        let spans = RequestSpans.new(details, besides: stored)
        return Dictionary(grouping: spans) { $0.end / Self.interval }.values.flatMap(Self.points(ofInterval:))
    }

    /// Returns a point for each series of an interval.
    ///
    /// - Parameter spans: the requests that ended in one interval. The points end with the last of them, so no point lies in the
    ///   future.
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
