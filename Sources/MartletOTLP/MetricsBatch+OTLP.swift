import MartletTelemetry
import SwiftProtobuf

extension MetricsBatch {
    /// Returns the batch as the body of `POST /v1/metrics`. Durations in seconds and body sizes are delta exponential
    /// histograms. Phases, and sizes whose distribution is unknown, are delta histograms without buckets (count and sum
    /// are exact). The ledger, the capture gap and the agent's CPU time are cumulative sums. ``processMetrics`` adds
    /// the metrics of the process.
    ///
    /// In addition to the body, memory holds only one point of one series at a time: all points as messages would take
    /// many times as much.
    package func otlp() throws -> [UInt8] {
        let resource: [UInt8] = try OTLPResource(resource).serializedBytes()
        let scope: [UInt8] = try OTLPScope.message.serializedBytes()
        var request = ProtobufWriter()
        try request.message(field: 1) { resourceMetrics in
            resourceMetrics.message(resource, field: 1)
            try resourceMetrics.message(field: 2) { scopeMetrics in
                scopeMetrics.message(scope, field: 1)
                try writeMetrics(to: &scopeMetrics)
                scopeMetrics.text(OTLPScope.schemaURL, field: 3)
            }
            resourceMetrics.text(OTLPScope.schemaURL, field: 3)
        }
        return request.bytes
    }

    private func writeMetrics(to scope: inout ProtobufWriter) throws {
        for kind in RequestKind.allCases {
            try writeDurations(kind == .client ? MetricName.clientDuration : MetricName.serverDuration, to: &scope)
            for (name, bytes) in Self.sizes(of: kind) { try writeSizes(bytes, of: kind, name, to: &scope) }
        }
        for name in [MetricName.databaseDuration, MetricName.messagingDuration] {
            try writeDurations(name, to: &scope)
        }
        try writePhases(to: &scope)
        scope.message(try ledgerMetric().serializedBytes(), field: 2)
        for (name, time) in [(MetricName.captureGap, captureGap), (MetricName.agentCPU, agentCPU)] where time > 0 {
            scope.message(try timeMetric(name, time).serializedBytes(), field: 2)
        }
        for metric in processMetrics { scope.message(try metric.serializedBytes(), field: 2) }
        if !ends.isEmpty { scope.message(try endMetric.serializedBytes(), field: 2) }
    }

    /// Writes the durations of the requests that a metric counts; nothing if there are none.
    private func writeDurations(_ name: String, to scope: inout ProtobufWriter) throws {
        guard series.keys.contains(where: { $0.durationMetric == name }) else { return }
        try scope.deltaMetric(name, unit: "s", .exponentialHistogram) { histogram in
            for (dimensions, statistics) in series where dimensions.durationMetric == name {
                histogram.message(try point(of: dimensions, statistics.duration).serializedBytes(), field: 1)
            }
        }
    }

    private func point(
        of dimensions: RequestDimensions, _ values: ExponentialHistogram
    ) -> OTLPExponentialHistogramDataPoint {
        var point = OTLPExponentialHistogramDataPoint(values)
        point.attributes = [OTLPKeyValue](dimensions)
        point.startTimeUnixNano = start
        point.timeUnixNano = end
        return point
    }

    private static func sizes(of kind: RequestKind) -> [(String, KeyPath<RequestStatistics, UInt64>)] {
        kind == .client
            ? [(MetricName.clientRequestSize, \.bytesSent), (MetricName.clientResponseSize, \.bytesReceived)]
            : [(MetricName.serverRequestSize, \.bytesReceived), (MetricName.serverResponseSize, \.bytesSent)]
    }

    private func writeSizes(
        _ bytes: KeyPath<RequestStatistics, UInt64>, of kind: RequestKind, _ name: String,
        to scope: inout ProtobufWriter
    ) throws {
        let isPresent = { (one: (key: RequestDimensions, value: RequestStatistics)) in
            one.key.kind == kind && one.value[keyPath: bytes] > 0
        }
        guard series.contains(where: isPresent) else { return }
        guard sizes.isEmpty else {
            return try scope.deltaMetric(name, unit: "By", .exponentialHistogram) { histogram in
                for one in series where isPresent(one) {
                    guard let sizes = sizes[one.key] else { continue }
                    let values = bytes == \.bytesSent ? sizes.sent : sizes.received
                    histogram.message(try point(of: one.key, values).serializedBytes(), field: 1)
                }
            }
        }
        try scope.deltaMetric(name, unit: "By", .histogram) { histogram in
            for one in series where isPresent(one) {
                let point = point(
                    [OTLPKeyValue](one.key), count: one.value.requests, sum: Double(one.value[keyPath: bytes]))
                histogram.message(try point.serializedBytes(), field: 1)
            }
        }
    }

    /// Writes the phases of the requests of each series; nothing if no request had any.
    private func writePhases(to scope: inout ProtobufWriter) throws {
        let isPresent = { (one: (key: RequestDimensions, value: RequestStatistics)) in
            one.key.kind == .client && !one.value.phases.isEmpty
        }
        guard series.contains(where: isPresent) else { return }
        try scope.deltaMetric(MetricName.clientPhaseDuration, unit: "s", .histogram) { histogram in
            for one in series where isPresent(one) {
                for point in phasePoints(of: one.key, one.value) {
                    histogram.message(try point.serializedBytes(), field: 1)
                }
            }
        }
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
        metric.description_p = MetricName.description(of: MetricName.ledger)
        metric.unit = "{request}"
        metric.sum.aggregationTemporality = .cumulative
        metric.sum.dataPoints = [
            ledgerPoint(LedgerState.captured, ledger.captured), ledgerPoint(LedgerState.delivered, ledger.delivered),
            ledgerPoint(LedgerState.waiting, ledger.waiting),
        ]
        metric.sum.dataPoints += ledger.dropped.map { ledgerPoint(LedgerState.dropped, $0.value, reason: $0.key) }
        return metric
    }

    /// Returns a time since the instance's start.
    ///
    /// - Parameter time: nanoseconds.
    private func timeMetric(_ name: String, _ time: UInt64) -> OTLPMetric {
        var metric = OTLPMetric()
        metric.name = name
        metric.description_p = MetricName.description(of: name)
        metric.unit = "s"
        metric.sum.aggregationTemporality = .cumulative
        metric.sum.isMonotonic = true
        var point = OTLPNumberDataPoint()
        point.startTimeUnixNano = instanceStart
        point.timeUnixNano = end
        point.asDouble = Double(time) / 1e9
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

extension RequestDimensions {
    /// The metric that counts the request.
    fileprivate var durationMetric: String {
        switch conventions {
        case .http, .rpc: kind == .client ? MetricName.clientDuration : MetricName.serverDuration
        case .database: MetricName.databaseDuration
        case .messaging: MetricName.messagingDuration
        }
    }
}

extension ProtobufWriter {
    /// The kinds of metrics whose points cover an interval. The raw value is the field of a Metric.
    fileprivate enum DeltaKind: UInt8 {
        case histogram = 9
        case exponentialHistogram = 10
    }

    /// Writes a Metric of a ScopeMetrics, with its fields in the order of their numbers.
    ///
    /// - Parameter points: writes the points, as field 1.
    fileprivate mutating func deltaMetric(
        _ name: String, unit: String, _ kind: DeltaKind, _ points: (inout ProtobufWriter) throws -> Void
    ) rethrows {
        try message(field: 2) { metric in
            metric.text(name, field: 1)
            metric.text(MetricName.description(of: name), field: 2)
            metric.text(unit, field: 3)
            try metric.message(field: kind.rawValue) { data in
                try points(&data)
                data.varint(UInt64(OTLPAggregationTemporality.delta.rawValue), field: 2)
            }
        }
    }
}

extension OTLPExponentialHistogramDataPoint {
    package init(_ histogram: ExponentialHistogram) {
        self.init()
        let histogram = histogram.joined
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

extension ExponentialHistogram {
    /// `nil` if the point has negative values, is not a valid histogram, or has a count that differs from the sum of
    /// its buckets.
    init?(_ point: OTLPExponentialHistogramDataPoint) {
        guard point.negative.bucketCounts.isEmpty else { return nil }
        self.init(
            scale: point.scale, sum: point.sum, min: point.hasMin ? point.min : nil,
            max: point.hasMax ? point.max : nil, zeroCount: point.zeroCount, offset: point.positive.offset,
            buckets: point.positive.bucketCounts)
        guard count == point.count else { return nil }
    }
}
