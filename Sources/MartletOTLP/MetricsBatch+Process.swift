import MartletTelemetry

extension MetricsBatch {
    /// The process's figures as metrics. Counters and delays are deltas of the interval; other figures are of its end. A sum
    /// that goes up and down is cumulative even for senders of deltas (OpenTelemetry specification, "Metrics Exporter OTLP",
    /// temporality preference).
    var processMetrics: [OTLPMetric] { ProcessMetric.allCases.compactMap(metric) }

    private func metric(_ process: ProcessMetric) -> OTLPMetric? {
        var metric = OTLPMetric()
        (metric.name, metric.unit) = (process.rawValue, process.unit)
        switch process.kind {
        case .counter(let parts):
            let points = parts.sorted { $0.value.rawValue < $1.value.rawValue }.compactMap { name, counter in
                self.process.counts[counter].map { counterPoint($0, process, of: name) }
            }
            guard !points.isEmpty else { return nil }
            metric.sum.aggregationTemporality = .delta
            metric.sum.isMonotonic = true
            metric.sum.dataPoints = points
        case .level(let gauge):
            guard let value = self.process.gauges[gauge]?.mean else { return nil }
            let point = levelPoint(value, process)
            if process == .uptime {
                metric.gauge.dataPoints = [point]
            } else {
                metric.sum.aggregationTemporality = .cumulative
                metric.sum.dataPoints = [point]
            }
        case .delay(let gauge):
            guard let samples = self.process.gauges[gauge] else { return nil }
            metric.histogram.aggregationTemporality = .delta
            metric.histogram.dataPoints = [delayPoint(samples, process)]
        }
        return metric
    }

    private func counterPoint(_ value: UInt64, _ process: ProcessMetric, of part: String) -> OTLPNumberDataPoint {
        var point = OTLPNumberDataPoint()
        point.attributes = process.attributes.prefix(1).map { OTLPKeyValue($0, part) }
        point.startTimeUnixNano = start
        point.timeUnixNano = end
        if process.scale == 1 {
            point.asInt = Int64(clamping: value)
        } else {
            point.asDouble = Double(value) / process.scale
        }
        return point
    }

    private func levelPoint(_ value: Double, _ process: ProcessMetric) -> OTLPNumberDataPoint {
        var point = OTLPNumberDataPoint()
        if process != .uptime { point.startTimeUnixNano = instanceStart }
        point.timeUnixNano = end
        if process.scale == 1 { point.asInt = Int64(value) } else { point.asDouble = value / process.scale }
        return point
    }

    private func delayPoint(_ samples: ProcessStatistics.Samples, _ process: ProcessMetric) -> OTLPHistogramDataPoint {
        var point = OTLPHistogramDataPoint()
        point.startTimeUnixNano = start
        point.timeUnixNano = end
        point.count = samples.count
        point.sum = Double(samples.sum) / process.scale
        point.max = Double(samples.max) / process.scale
        return point
    }
}
