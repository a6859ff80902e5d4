import MartletOTLP
import MartletTelemetry

/// Which messages an OTLP message may hold, by the numbers of their fields (Sources/MartletOTLP/Protos): what
/// ``ProtobufWeight`` has to know to look into a body without decoding it.
enum MessageShape {
    case metricsRequest, resourceMetrics, scopeMetrics, metric
    case gauge, sum, histogram, exponentialHistogram, summary
    case numberPoint, histogramPoint, exponentialPoint, summaryPoint, buckets
    case tracesRequest, resourceSpans, scopeSpans, span, event, link
    case resource, keyValue, anyValue, array, keyValueList

    /// How a message is held by the one around it.
    enum Place {
        /// One of many: a place in an array.
        case element
        /// Where another message of the same place may be instead, which a decoder copies before it adds to it.
        case choice
        /// A part of the message around it.
        case part
    }

    /// `nil` for a field that holds no message, or one that holds no other.
    func child(_ field: Int) -> (shape: MessageShape, place: Place)? {
        switch (self, field) {
        case (.metricsRequest, 1): (.resourceMetrics, .element)
        case (.resourceMetrics, 2): (.scopeMetrics, .element)
        case (.scopeMetrics, 2): (.metric, .element)
        case (.metric, 5): (.gauge, .choice)
        case (.metric, 7): (.sum, .choice)
        case (.metric, 9): (.histogram, .choice)
        case (.metric, 10): (.exponentialHistogram, .choice)
        case (.metric, 11): (.summary, .choice)
        case (.gauge, 1), (.sum, 1): (.numberPoint, .element)
        case (.histogram, 1): (.histogramPoint, .element)
        case (.exponentialHistogram, 1): (.exponentialPoint, .element)
        case (.summary, 1): (.summaryPoint, .element)
        case (.exponentialPoint, 8), (.exponentialPoint, 9): (.buckets, .part)
        case (.tracesRequest, 1): (.resourceSpans, .element)
        case (.resourceSpans, 2): (.scopeSpans, .element)
        case (.scopeSpans, 2): (.span, .element)
        case (.span, 11): (.event, .element)
        case (.span, 13): (.link, .element)
        case (.resourceMetrics, 1), (.resourceSpans, 1): (.resource, .part)
        case (.numberPoint, 7), (.histogramPoint, 9), (.exponentialPoint, 1), (.summaryPoint, 7), (.resource, 1),
            (.span, 9), (.event, 3), (.link, 4), (.keyValueList, 1):
            (.keyValue, .element)
        // No choice in the protocol, but as costly: a second value is merged into the first, which is copied for it.
        case (.keyValue, 2): (.anyValue, .choice)
        case (.anyValue, 5): (.array, .choice)
        case (.anyValue, 6): (.keyValueList, .choice)
        case (.array, 1): (.anyValue, .element)
        default: nil
        }
    }

    /// Of one in an array, without its texts and what it holds.
    var bytes: Int {
        switch self {
        case .resourceMetrics: MemoryLayout<OTLPResourceMetrics>.stride
        case .scopeMetrics: MemoryLayout<OTLPScopeMetrics>.stride
        case .metric: max(MemoryLayout<OTLPMetric>.stride, MemoryLayout<EncodedMetric>.stride)
        case .numberPoint: MemoryLayout<OTLPNumberDataPoint>.stride
        // A point is read where it stands, or decoded first where it is written in an unusual way.
        case .histogramPoint: max(MemoryLayout<OTLPHistogramDataPoint>.stride, MemoryLayout<RequestPoint>.stride)
        case .exponentialPoint:
            max(MemoryLayout<OTLPExponentialHistogramDataPoint>.stride, MemoryLayout<RequestPoint>.stride)
        case .summaryPoint: MemoryLayout<OTLPSummaryDataPoint>.stride
        case .resourceSpans: MemoryLayout<OTLPResourceSpans>.stride
        case .scopeSpans: MemoryLayout<OTLPScopeSpans>.stride
        // The only one whose fields are an object of their own.
        case .span: MemoryLayout<OTLPSpan>.stride + 256
        case .event: MemoryLayout<OTLPSpan.Event>.stride
        case .link: MemoryLayout<OTLPSpan.Link>.stride
        case .keyValue: MemoryLayout<OTLPKeyValue>.stride
        case .anyValue: MemoryLayout<OTLPAnyValue>.stride
        case .metricsRequest, .tracesRequest, .gauge, .sum, .histogram, .exponentialHistogram, .summary, .buckets,
            .resource, .array, .keyValueList:
            0
        }
    }
}
