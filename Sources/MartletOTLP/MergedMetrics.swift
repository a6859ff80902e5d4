import MartletTelemetry
import SwiftProtobuf

/// Merges bodies of `POST /v1/metrics` that one instance made of consecutive intervals into one body for the whole
/// time. Points of the same metric and attributes become one: counts, sums and distributions merge without error. For
/// the agent's own metrics and the process's levels, the last body wins. Only the resolution in time is lost.
///
/// Memory holds one point for each series, regardless of the number of bodies.
package struct MergedMetrics {
    private var resource: OTLPResource
    private let scope: OTLPInstrumentationScope
    private var metrics: [MergedMetric] = []
    private var start = UInt64.max
    private var end: UInt64 = 0
    /// Snapshots, by metric name. The last one wins and keeps its own time. They are the agent's own metrics, which
    /// count from the instance's start, and the levels of its process.
    private var latest: [String: OTLPMetric] = [:]

    /// `nil` if ``MetricsBatch`` does not make such a body.
    package init?(_ body: [UInt8]) {
        guard let part = OTLPResourceMetrics(onlyOneIn: body) else { return nil }
        resource = part.resource
        scope = part.scopeMetrics[0].scope
        guard take(part.scopeMetrics[0].metrics) else { return nil }
    }

    /// Adds a body. If the body has another resource or a metric that cannot be merged, returns `false` and changes
    /// nothing.
    ///
    /// - Parameter isResourceNew: whether the body may have another resource, which replaces the one before.
    package mutating func add(_ body: [UInt8], isResourceNew: Bool = false) -> Bool {
        guard let part = OTLPResourceMetrics(onlyOneIn: body), isResourceNew || part.resource == resource,
            take(part.scopeMetrics[0].metrics)
        else { return false }
        resource = part.resource
        return true
    }

    /// The time of cumulative points: the end of the last interval, or the time of the agent's own metrics if that is
    /// later.
    package var time: UInt64 {
        max(end, latest.values.flatMap(\.sum.dataPoints).map(\.timeUnixNano).max() ?? 0)
    }

    /// Moves the time past an earlier one. A receiver ignores a cumulative point that is not newer than the previous
    /// one.
    package mutating func move(past earlier: UInt64) { end = max(end, earlier &+ 1) }

    /// Makes these the sums that follow earlier ones: they have their start, and a later time. A receiver takes sums with another
    /// start for those of another process, and counts them again.
    package mutating func follow(_ earlier: MergedMetrics) {
        if !earlier.metrics.isEmpty { start = earlier.start }
        move(past: earlier.time)
    }

    /// Returns the merged body.
    ///
    /// - Parameters:
    ///   - temporality: that of the histograms and the counters. Cumulative ones have ``time``.
    ///   - selection: limits the body to the metrics and points that this has too; `nil` for all.
    package func otlp(
        _ temporality: OTLPAggregationTemporality = .delta, only selection: MergedMetrics? = nil
    ) throws -> [UInt8] {
        let end = temporality == .cumulative ? time : end
        var scope = OTLPScopeMetrics()
        scope.scope = self.scope
        scope.schemaURL = OTLPScope.schemaURL
        scope.metrics = metrics.compactMap { metric in
            guard let selection else { return metric.message(start: start, end: end, temporality) }
            return selection.metrics.first { $0.withoutPoints == metric.withoutPoints }
                .map { metric.keeping($0).message(start: start, end: end, temporality) }
        }
        scope.metrics += latest.values.sorted { $0.name < $1.name }
        var part = OTLPResourceMetrics()
        part.resource = resource
        // Other programs treat each resource as a separate stream. If a sum moved to another stream, it would be
        // counted twice.
        if temporality == .cumulative {
            part.resource.attributes.removeAll { AttributeName.captureNames.contains($0.key) }
        }
        part.scopeMetrics = [scope]
        part.schemaURL = OTLPScope.schemaURL
        var request = OTLPExportMetricsServiceRequest()
        request.resourceMetrics = [part]
        return try request.serializedBytes()
    }

    /// Takes all metrics, or none if one cannot be merged. Returns whether it took them.
    private mutating func take(_ added: [OTLPMetric]) -> Bool {
        var mergeable: [MergeableMetric] = []
        for metric in added where !metric.isSnapshot {
            guard let metric = MergeableMetric(metric) else { return false }
            mergeable.append(metric)
        }
        for metric in mergeable {
            let index = metrics.firstIndex { $0.withoutPoints == metric.withoutPoints } ?? metrics.endIndex
            if index == metrics.endIndex { metrics.append(MergedMetric(metric.withoutPoints)) }
            metrics[index].add(metric)
            start = min(start, metric.start)
            end = max(end, metric.end)
        }
        for metric in added where metric.isSnapshot { latest[metric.name] = metric }
        return true
    }
}

extension OTLPMetric {
    /// Whether the points describe a moment and not an interval.
    fileprivate var isSnapshot: Bool {
        switch data {
        case .gauge: true
        case .sum(let sum): sum.aggregationTemporality == .cumulative
        default: false
        }
    }
}

/// The points of one metric, all of which can be merged.
private struct MergeableMetric {
    /// The metric without its points.
    var withoutPoints: OTLPMetric
    var start = UInt64.max
    var end: UInt64 = 0
    var distributions: [(attributes: [OTLPKeyValue], values: ExponentialHistogram)] = []
    var totals: [(attributes: [OTLPKeyValue], values: HistogramTotal)] = []
    var counts: [(attributes: [OTLPKeyValue], count: NumberTotal)] = []

    init?(_ metric: OTLPMetric) {
        withoutPoints = metric
        switch metric.data {
        case .exponentialHistogram(let histogram):
            withoutPoints.exponentialHistogram.dataPoints = []
            guard histogram.aggregationTemporality == .delta else { return nil }
            for point in histogram.dataPoints {
                guard let values = ExponentialHistogram(point) else { return nil }
                distributions.append((point.attributes, values))
                cover(point.startTimeUnixNano, point.timeUnixNano)
            }
        case .histogram(let histogram):
            withoutPoints.histogram.dataPoints = []
            guard histogram.aggregationTemporality == .delta else { return nil }
            for point in histogram.dataPoints {
                guard point.bucketCounts.isEmpty else { return nil }
                totals.append((point.attributes, HistogramTotal(point)))
                cover(point.startTimeUnixNano, point.timeUnixNano)
            }
        case .sum(let sum):
            withoutPoints.sum.dataPoints = []
            guard sum.aggregationTemporality == .delta, sum.isMonotonic else { return nil }
            for point in sum.dataPoints {
                counts.append((point.attributes, NumberTotal(point)))
                cover(point.startTimeUnixNano, point.timeUnixNano)
            }
        default: return nil
        }
    }

    private mutating func cover(_ from: UInt64, _ to: UInt64) {
        start = min(start, from)
        end = max(end, to)
    }
}

/// The count, the sum and the maximum of a histogram without buckets.
private struct HistogramTotal {
    private var count: UInt64
    private var sum: Double
    /// `nil` if no point has it.
    private var max: Double?

    init(_ point: OTLPHistogramDataPoint) {
        (count, sum, max) = (point.count, point.sum, point.hasMax ? point.max : nil)
    }

    mutating func merge(_ other: HistogramTotal) {
        count &+= other.count
        sum += other.sum
        max = other.max.map { Swift.max($0, max ?? $0) } ?? max
    }

    var point: OTLPHistogramDataPoint {
        var point = OTLPHistogramDataPoint()
        (point.count, point.sum) = (count, sum)
        if let max { point.max = max }
        return point
    }
}

/// The total of a sum's points. Whole numbers stay whole.
private struct NumberTotal {
    private(set) var point: OTLPNumberDataPoint

    init(_ point: OTLPNumberDataPoint) { self.point = point }

    mutating func merge(_ other: NumberTotal) {
        if case .asInt(let one)? = point.value, case .asInt(let more)? = other.point.value {
            point.asInt = one &+ more
        } else {
            point.asDouble += other.point.asDouble
        }
    }
}

/// A metric to which points are added.
private struct MergedMetric {
    /// The metric without its points.
    let withoutPoints: OTLPMetric
    private var distributions: [[OTLPKeyValue]: ExponentialHistogram] = [:]
    private var totals: [[OTLPKeyValue]: HistogramTotal] = [:]
    private var counts: [[OTLPKeyValue]: NumberTotal] = [:]

    init(_ withoutPoints: OTLPMetric) { self.withoutPoints = withoutPoints }

    mutating func add(_ metric: MergeableMetric) {
        for (attributes, values) in metric.distributions {
            distributions[attributes, default: ExponentialHistogram(scale: values.scale)].merge(values)
        }
        for (attributes, total) in metric.totals {
            if totals[attributes]?.merge(total) == nil { totals[attributes] = total }
        }
        for (attributes, count) in metric.counts {
            if counts[attributes]?.merge(count) == nil { counts[attributes] = count }
        }
    }

    /// Returns the metric with only the points that the other one has too.
    func keeping(_ other: MergedMetric) -> MergedMetric {
        var kept = self
        kept.distributions = distributions.filter { other.distributions[$0.key] != nil }
        kept.totals = totals.filter { other.totals[$0.key] != nil }
        kept.counts = counts.filter { other.counts[$0.key] != nil }
        return kept
    }

    func message(start: UInt64, end: UInt64, _ temporality: OTLPAggregationTemporality) -> OTLPMetric {
        var result = withoutPoints
        switch withoutPoints.data {
        case .exponentialHistogram:
            result.exponentialHistogram.aggregationTemporality = temporality
            result.exponentialHistogram.dataPoints = distributions.map { attributes, values in
                var point = OTLPExponentialHistogramDataPoint(values)
                point.attributes = attributes
                (point.startTimeUnixNano, point.timeUnixNano) = (start, end)
                return point
            }
        case .histogram:
            result.histogram.aggregationTemporality = temporality
            result.histogram.dataPoints = totals.map { attributes, total in
                var point = total.point
                point.attributes = attributes
                (point.startTimeUnixNano, point.timeUnixNano) = (start, end)
                return point
            }
        default:
            result.sum.aggregationTemporality = temporality
            result.sum.dataPoints = counts.map { attributes, count in
                var point = count.point
                point.attributes = attributes
                (point.startTimeUnixNano, point.timeUnixNano) = (start, end)
                return point
            }
        }
        return result
    }
}

extension OTLPResourceMetrics {
    /// Reads the only resource of a body. `nil` unless the body has exactly one resource with one scope, as an agent
    /// sends it.
    init?(onlyOneIn body: [UInt8]) {
        guard let request = try? OTLPExportMetricsServiceRequest(serializedBytes: body),
            request.resourceMetrics.count == 1, request.resourceMetrics[0].scopeMetrics.count == 1
        else { return nil }
        self = request.resourceMetrics[0]
    }
}
