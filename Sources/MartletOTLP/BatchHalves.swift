import MartletTelemetry
import SwiftProtobuf

/// A body that was too large, as two.
package struct BatchHalves {
    package struct Half {
        package var body: [UInt8]
        /// How many requests its durations stand for; 0 for spans.
        package var requests: UInt64
    }

    package let first: Half
    package let second: Half

    /// `nil` for what cannot be halved: one series, one span, or no body that an agent makes.
    package init?(_ body: [UInt8], signal: Signal) {
        let halves =
            switch signal {
            case .metrics: Self.metrics(body)
            case .traces: Self.traces(body)
            }
        guard let halves else { return nil }
        (first, second) = halves
    }

    /// Series are divided, so that what belongs to one stays together. The accounts go with both.
    private static func metrics(_ body: [UInt8]) -> (Half, Half)? {
        guard let part = OTLPResourceMetrics(onlyOneIn: body) else { return nil }
        var series: [[OTLPKeyValue]: Int] = [:]
        for metric in part.scopeMetrics[0].metrics where !MetricName.accounts.contains(metric.name) {
            for attributes in metric.pointAttributes where series[attributes.ofSeries] == nil {
                series[attributes.ofSeries] = series.count
            }
        }
        guard series.count > 1 else { return nil }
        func half(_ isWanted: (Int) -> Bool) -> Half? {
            var part = part
            part.scopeMetrics[0].metrics = part.scopeMetrics[0].metrics.compactMap { metric in
                metric.keeping { attributes in series[attributes.ofSeries].map(isWanted) ?? true }
            }
            var request = OTLPExportMetricsServiceRequest()
            request.resourceMetrics = [part]
            guard let body: [UInt8] = try? request.serializedBytes() else { return nil }
            return Half(body: body, requests: part.scopeMetrics[0].metrics.reduce(0) { $0 &+ $1.requests })
        }
        let middle = series.count / 2
        guard let first = half({ $0 < middle }), let second = half({ $0 >= middle }) else { return nil }
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
    /// What all points of a series have in common: those of its phases differ in the phase alone.
    fileprivate var ofSeries: [OTLPKeyValue] { filter { $0.key != AttributeName.phase } }
}

extension OTLPMetric {
    fileprivate var pointAttributes: [[OTLPKeyValue]] {
        switch data {
        case .exponentialHistogram(let histogram): histogram.dataPoints.map(\.attributes)
        case .histogram(let histogram): histogram.dataPoints.map(\.attributes)
        default: []
        }
    }

    /// How many requests its points stand for: those of durations do, sizes and phases are of the same requests.
    fileprivate var requests: UInt64 {
        guard case .exponentialHistogram(let histogram)? = data else { return 0 }
        return histogram.dataPoints.reduce(0) { $0 &+ $1.count }
    }

    /// `nil` when nothing is left of it.
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
