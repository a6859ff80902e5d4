import MartletOTLP
import MartletPoints
import MartletTelemetry

/// The messages that an OTLP message may hold, by field number (Sources/MartletOTLP/Protos). With them ``ProtobufWeight``
/// looks into a body without decoding it.
enum MessageShape {
    case metricsRequest, resourceMetrics, scopeMetrics, metric
    case gauge, sum, histogram, exponentialHistogram, summary
    case numberPoint, histogramPoint, exponentialPoint, summaryPoint, buckets
    case tracesRequest, resourceSpans, scopeSpans, span, event, link
    case resource, scope, keyValue, anyValue, array, keyValueList

    /// The role of a message in the message around it.
    enum Role {
        /// An element of an array.
        case element
        /// A field that holds one of several messages. If the field is set twice, a decoder copies the first message
        /// before it adds to it.
        case choice
        /// A single part of the message around it.
        case part
    }

    /// Returns the message in a field; `nil` for a field without a message, or with a message that holds no other.
    func child(_ field: Int) -> (shape: MessageShape, role: Role)? {
        switch self {
        case .metricsRequest: field == 1 ? (.resourceMetrics, .element) : nil
        case .resourceMetrics: field == 1 ? (.resource, .part) : field == 2 ? (.scopeMetrics, .element) : nil
        case .scopeMetrics: field == 1 ? (.scope, .part) : field == 2 ? (.metric, .element) : nil
        case .metric: data(field).map { ($0, .choice) }
        case .gauge, .sum: field == 1 ? (.numberPoint, .element) : nil
        case .histogram: field == 1 ? (.histogramPoint, .element) : nil
        case .exponentialHistogram: field == 1 ? (.exponentialPoint, .element) : nil
        case .summary: field == 1 ? (.summaryPoint, .element) : nil
        case .exponentialPoint:
            field == 1 ? (.keyValue, .element) : field == 8 || field == 9 ? (.buckets, .part) : nil
        case .tracesRequest: field == 1 ? (.resourceSpans, .element) : nil
        case .resourceSpans: field == 1 ? (.resource, .part) : field == 2 ? (.scopeSpans, .element) : nil
        case .scopeSpans: field == 1 ? (.scope, .part) : field == 2 ? (.span, .element) : nil
        case .span:
            switch field {
            case 9: (.keyValue, .element)
            case 11: (.event, .element)
            case 13: (.link, .element)
            default: nil
            }
        case .numberPoint, .summaryPoint: field == 7 ? (.keyValue, .element) : nil
        case .histogramPoint: field == 9 ? (.keyValue, .element) : nil
        case .resource, .keyValueList: field == 1 ? (.keyValue, .element) : nil
        case .scope, .event: field == 3 ? (.keyValue, .element) : nil
        case .link: field == 4 ? (.keyValue, .element) : nil
        // The value is not a choice in the protocol, but as costly: a second value is merged into a copy of the first.
        case .keyValue: field == 2 ? (.anyValue, .choice) : nil
        case .anyValue: field == 5 ? (.array, .choice) : field == 6 ? (.keyValueList, .choice) : nil
        case .array: field == 1 ? (.anyValue, .element) : nil
        case .buckets: nil
        }
    }

    /// Returns the shape of a metric's data in a field.
    private func data(_ field: Int) -> MessageShape? {
        switch field {
        case 5: .gauge
        case 7: .sum
        case 9: .histogram
        case 10: .exponentialHistogram
        case 11: .summary
        default: nil
        }
    }

    /// Bytes of a message in an array, without its texts and the messages in it.
    var bytes: Int {
        switch self {
        case .resourceMetrics: MemoryLayout<OTLPResourceMetrics>.stride
        case .scopeMetrics: MemoryLayout<OTLPScopeMetrics>.stride
        case .metric: max(MemoryLayout<OTLPMetric>.stride, MemoryLayout<EncodedMetric>.stride)
        case .numberPoint: MemoryLayout<OTLPNumberDataPoint>.stride
        // A point is read directly from the body, or decoded first if it is written in an unusual way.
        case .histogramPoint: max(MemoryLayout<OTLPHistogramDataPoint>.stride, MemoryLayout<RequestPoint>.stride)
        case .exponentialPoint:
            max(MemoryLayout<OTLPExponentialHistogramDataPoint>.stride, MemoryLayout<RequestPoint>.stride)
        case .summaryPoint: MemoryLayout<OTLPSummaryDataPoint>.stride
        case .resourceSpans: MemoryLayout<OTLPResourceSpans>.stride
        case .scopeSpans: MemoryLayout<OTLPScopeSpans>.stride
        // A span is the only message whose fields are in an object of their own.
        case .span: MemoryLayout<OTLPSpan>.stride + 256
        case .event: MemoryLayout<OTLPSpan.Event>.stride
        case .link: MemoryLayout<OTLPSpan.Link>.stride
        case .keyValue: MemoryLayout<OTLPKeyValue>.stride
        case .anyValue: MemoryLayout<OTLPAnyValue>.stride
        case .metricsRequest, .tracesRequest, .gauge, .sum, .histogram, .exponentialHistogram, .summary, .buckets,
            .resource, .scope, .array, .keyValueList:
            0
        }
    }
}
