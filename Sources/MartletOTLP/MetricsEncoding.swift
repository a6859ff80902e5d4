import MartletTelemetry
import SwiftProtobuf

extension MetricsBatch {
    /// The batch as the body of `POST /v1/metrics`: durations as delta exponential histograms in seconds, body sizes and
    /// phases as delta histograms without buckets (count and sum are exact), the ledger and the time without
    /// capture as cumulative sums.
    package func otlp() throws -> [UInt8] {
        var request = OTLPExportMetricsServiceRequest()
        request.resourceMetrics = [resourceMetrics()]
        return try request.serializedBytes()
    }

    private func resourceMetrics() -> OTLPResourceMetrics {
        var scope = OTLPScopeMetrics()
        scope.scope = OTLPScope.message
        for kind in RequestKind.allCases {
            let series = series.filter { $0.key.kind == kind }
            guard !series.isEmpty else { continue }
            scope.metrics.append(durations(of: series, kind: kind))
            scope.metrics += sizes(of: series, kind: kind)
        }
        if let phases = phases() { scope.metrics.append(phases) }
        scope.metrics.append(ledgerMetric())
        if unwatched > 0 { scope.metrics.append(unwatchedMetric()) }
        var result = OTLPResourceMetrics()
        result.resource = OTLPResource(resource)
        result.scopeMetrics = [scope]
        return result
    }

    private func durations(of series: [RequestDimensions: RequestStatistics], kind: RequestKind) -> OTLPMetric {
        var metric = OTLPMetric()
        metric.name = kind == .client ? MetricName.clientDuration : MetricName.serverDuration
        metric.unit = "s"
        metric.exponentialHistogram.aggregationTemporality = .delta
        metric.exponentialHistogram.dataPoints = series.map { dimensions, statistics in
            var point = OTLPExponentialHistogramDataPoint(statistics.duration)
            point.attributes = [OTLPKeyValue](dimensions)
            point.startTimeUnixNano = start
            point.timeUnixNano = end
            return point
        }
        return metric
    }

    private func sizes(of series: [RequestDimensions: RequestStatistics], kind: RequestKind) -> [OTLPMetric] {
        let metrics =
            kind == .client
            ? [
                (MetricName.clientRequestSize, \RequestStatistics.bytesSent),
                (MetricName.clientResponseSize, \.bytesReceived),
            ]
            : [
                (MetricName.serverRequestSize, \RequestStatistics.bytesReceived),
                (MetricName.serverResponseSize, \.bytesSent),
            ]
        return metrics.compactMap { name, bytes in
            let points = series.filter { $0.value[keyPath: bytes] > 0 }
            guard !points.isEmpty else { return nil }
            var metric = OTLPMetric()
            metric.name = name
            metric.unit = "By"
            metric.histogram.aggregationTemporality = .delta
            metric.histogram.dataPoints = points.map { dimensions, statistics in
                point(
                    [OTLPKeyValue](dimensions), count: statistics.duration.count,
                    sum: Double(statistics[keyPath: bytes]))
            }
            return metric
        }
    }

    /// Of each series the phases that a request had; `nil` where none had any.
    private func phases() -> OTLPMetric? {
        let points = series.filter { $0.key.kind == .client && !$0.value.phases.isEmpty }.flatMap(phasePoints)
        guard !points.isEmpty else { return nil }
        var metric = OTLPMetric()
        metric.name = MetricName.clientPhaseDuration
        metric.unit = "s"
        metric.histogram.aggregationTemporality = .delta
        metric.histogram.dataPoints = points
        return metric
    }

    private func phasePoints(
        of dimensions: RequestDimensions, _ statistics: RequestStatistics
    ) -> [OTLPHistogramDataPoint] {
        let attributes = [OTLPKeyValue](dimensions)
        return RequestPhase.allCases.compactMap { phase in
            let total = statistics.phases[phase]
            guard total.count > 0 else { return nil }
            return point(
                attributes + [OTLPKeyValue(AttributeName.phase, phase.rawValue)], count: total.count,
                sum: total.seconds)
        }
    }

    private func point(_ attributes: [OTLPKeyValue], count: UInt64, sum: Double) -> OTLPHistogramDataPoint {
        var point = OTLPHistogramDataPoint()
        point.attributes = attributes
        point.startTimeUnixNano = start
        point.timeUnixNano = end
        point.count = count
        point.sum = sum
        return point
    }

    private func ledgerMetric() -> OTLPMetric {
        var metric = OTLPMetric()
        metric.name = MetricName.ledger
        metric.unit = "{request}"
        metric.sum.aggregationTemporality = .cumulative
        metric.sum.dataPoints = [
            ledgerPoint(LedgerState.captured, ledger.captured), ledgerPoint(LedgerState.delivered, ledger.delivered),
            ledgerPoint(LedgerState.waiting, ledger.waiting),
        ]
        metric.sum.dataPoints += ledger.dropped.map { ledgerPoint(LedgerState.dropped, $0.value, reason: $0.key) }
        return metric
    }

    private func unwatchedMetric() -> OTLPMetric {
        var metric = OTLPMetric()
        metric.name = MetricName.unwatched
        metric.unit = "s"
        metric.sum.aggregationTemporality = .cumulative
        metric.sum.isMonotonic = true
        var point = OTLPNumberDataPoint()
        point.startTimeUnixNano = instanceStart
        point.timeUnixNano = end
        point.asDouble = Double(unwatched) / 1e9
        metric.sum.dataPoints = [point]
        return metric
    }

    private func ledgerPoint(_ state: String, _ value: UInt64, reason: DropReason? = nil) -> OTLPNumberDataPoint {
        var point = OTLPNumberDataPoint()
        point.attributes = [OTLPKeyValue(AttributeName.ledgerState, state)]
        if let reason { point.attributes.append(OTLPKeyValue(AttributeName.ledgerReason, reason.rawValue)) }
        point.startTimeUnixNano = instanceStart
        point.timeUnixNano = end
        point.asInt = Int64(clamping: value)
        return point
    }
}

extension OTLPExponentialHistogramDataPoint {
    package init(_ histogram: ExponentialHistogram) {
        self.init()
        count = histogram.count
        sum = histogram.sum
        scale = histogram.scale
        zeroCount = histogram.zeroCount
        positive.offset = histogram.offset
        positive.bucketCounts = histogram.buckets
        if let min = histogram.min { self.min = min }
        if let max = histogram.max { self.max = max }
    }
}
