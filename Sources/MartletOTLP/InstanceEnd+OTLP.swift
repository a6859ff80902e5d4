import MartletTelemetry

extension MetricsBatch {
    /// The ends as a delta sum, with a point of the value 1 for each. A point has the interval of its batch, so that batches
    /// can be merged, and the time of the end is an attribute.
    var endMetric: OTLPMetric {
        var metric = OTLPMetric()
        metric.name = MetricName.processEnd
        metric.description_p = MetricName.description(of: MetricName.processEnd)
        metric.unit = "{process}"
        metric.sum.aggregationTemporality = .delta
        metric.sum.isMonotonic = true
        metric.sum.dataPoints = ends.map { end in
            var point = OTLPNumberDataPoint()
            point.attributes = end.attributes
            point.startTimeUnixNano = start
            point.timeUnixNano = self.end
            point.asInt = 1
            return point
        }
        return metric
    }
}

extension InstanceEnd {
    fileprivate var attributes: [OTLPKeyValue] {
        var attributes: [(name: String, value: SpanAttribute)] = [
            (AttributeName.ledgerReason, .string(cause.rawValue)), (AttributeName.endedInstance, .string(instance)),
            (AttributeName.endedTime, .integer(Int64(clamping: time))),
        ]
        if let signal { attributes.append((AttributeName.endedSignal, .string(signal))) }
        attributes += codeAttributes
        if inFlight > 0 { attributes.append((AttributeName.endedInFlight, .integer(Int64(inFlight)))) }
        let texts = requests.map { "\($0.count) \($0.kind == .server ? "server" : "client") \($0.name)" }
        if !texts.isEmpty { attributes.append((AttributeName.endedRequests, .array(texts.map(SpanAttribute.string)))) }
        return attributes.map { OTLPKeyValue($0.name, $0.value) }
    }

    /// The places, and the first of them once more under the names of OpenTelemetry's conventions ("Attributes: Code").
    private var codeAttributes: [(name: String, value: SpanAttribute)] {
        guard let first = places.first else { return [] }
        var attributes: [(name: String, value: SpanAttribute)] = [
            (AttributeName.endedPlaces, .array(places.map { .string($0.description) }))
        ]
        if let build {
            attributes.append((AttributeName.endedBuild, .string(build)))
        } else {
            attributes.append((AttributeName.codeFunction, .string(first.function)))
        }
        if let file = first.file { attributes.append((AttributeName.codeFile, .string(file))) }
        if let line = first.line { attributes.append((AttributeName.codeLine, .integer(Int64(line)))) }
        return attributes
    }
}
