import MartletTelemetry
import SwiftProtobuf

/// The two halves of a batch's body that was too large.
package struct BodyHalves {
    package struct Half {
        package var body: [UInt8]
        /// The number of requests in the half's durations; 0 for spans.
        package var requests: UInt64
    }

    package let first: Half
    package let second: Half

    /// Halves the body. Returns `nil` if it has only one series or one span, or if no agent makes such a body.
    package init?(_ body: [UInt8], signal: Signal) {
        let halves =
            switch signal {
            case .metrics: Self.metrics(body)
            case .traces: Self.traces(body)
            }
        guard let halves else { return nil }
        (first, second) = halves
    }

    /// Divides the series, so that all points of a series stay together. Both halves get the agent's own metrics. Only
    /// the first gets those of its process, because their deltas must be counted once.
    private static func metrics(_ body: [UInt8]) -> (Half, Half)? {
        guard let part = OTLPResourceMetrics(onlyOneIn: body) else { return nil }
        var series: [[OTLPKeyValue]: Int] = [:]
        for metric in part.scopeMetrics[0].metrics where MetricName.isOfRequests(metric.name) {
            for attributes in metric.pointAttributes where series[attributes.withoutPhase] == nil {
                series[attributes.withoutPhase] = series.count
            }
        }
        guard series.count > 1 else { return nil }
        func half(isFirst: Bool, _ isWanted: (Int) -> Bool) -> Half? {
            var part = part
            part.scopeMetrics[0].metrics = part.scopeMetrics[0].metrics.compactMap { metric in
                if MetricName.isOfProcess(metric.name) { return isFirst ? metric : nil }
                return metric.keeping { attributes in series[attributes.withoutPhase].map(isWanted) ?? true }
            }
            var request = OTLPExportMetricsServiceRequest()
            request.resourceMetrics = [part]
            guard let body: [UInt8] = try? request.serializedBytes() else { return nil }
            return Half(body: body, requests: part.scopeMetrics[0].metrics.reduce(0) { $0 &+ $1.requests })
        }
        let middle = series.count / 2
        guard let first = half(isFirst: true, { $0 < middle }), let second = half(isFirst: false, { $0 >= middle })
        else {
            return nil
        }
        return (first, second)
    }

    private static func traces(_ body: [UInt8]) -> (Half, Half)? {
        guard let request = try? OTLPExportTraceServiceRequest(serializedBytes: body),
            request.resourceSpans.count == 1, request.resourceSpans[0].scopeSpans.count == 1
        else { return nil }
        let spans = request.resourceSpans[0].scopeSpans[0].spans
        guard spans.count > 1 else { return nil }
        func half(_ spans: ArraySlice<OTLPSpan>) -> Half? {
            var request = request
            request.resourceSpans[0].scopeSpans[0].spans = Array(spans)
            let body: [UInt8]? = try? request.serializedBytes()
            return body.map { Half(body: $0, requests: 0) }
        }
        guard let first = half(spans[..<(spans.count / 2)]), let second = half(spans[(spans.count / 2)...]) else {
            return nil
        }
        return (first, second)
    }
}

extension [OTLPKeyValue] {
    /// The attributes that all points of a series share. Points of phases differ only in the phase.
    fileprivate var withoutPhase: [OTLPKeyValue] { filter { $0.key != AttributeName.phase } }
}

extension OTLPMetric {
    fileprivate var pointAttributes: [[OTLPKeyValue]] {
        switch data {
        case .exponentialHistogram(let histogram): histogram.dataPoints.map(\.attributes)
        case .histogram(let histogram): histogram.dataPoints.map(\.attributes)
        default: []
        }
    }

    /// The number of requests in the metric's points. Only durations count, because sizes and phases are of the same
    /// requests.
    fileprivate var requests: UInt64 {
        guard MetricName.durations.contains(name), case .exponentialHistogram(let histogram)? = data
        else { return 0 }
        return histogram.dataPoints.reduce(0) { $0 &+ $1.count }
    }

    /// Returns the metric with only the points whose attributes are wanted; `nil` if no point is left.
    fileprivate func keeping(_ isWanted: ([OTLPKeyValue]) -> Bool) -> OTLPMetric? {
        var metric = self
        switch data {
        case .exponentialHistogram(let histogram):
            metric.exponentialHistogram.dataPoints = histogram.dataPoints.filter { isWanted($0.attributes) }
            return metric.exponentialHistogram.dataPoints.isEmpty ? nil : metric
        case .histogram(let histogram):
            metric.histogram.dataPoints = histogram.dataPoints.filter { isWanted($0.attributes) }
            return metric.histogram.dataPoints.isEmpty ? nil : metric
        default: return metric
        }
    }
}
