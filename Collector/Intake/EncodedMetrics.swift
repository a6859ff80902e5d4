import MartletOTLP
import MartletTelemetry

/// The metrics of one sender in a body.
struct EncodedResourceMetrics {
    private(set) var resource = TelemetryResource(OTLPResource())
    private(set) var scopes: [EncodedScopeMetrics] = []

    var metrics: some Sequence<EncodedMetric> { scopes.lazy.flatMap(\.metrics) }

    init(
        _ range: Range<Int>, of body: ProtobufReader, _ known: KnownResources
    ) throws(ProtobufReader.UncommonForm) {
        var reader = ProtobufReader(body.bytes, range)
        var hasResource = false
        while let field = try reader.next() {
            guard case .bytes(let value) = field.value else { continue }
            switch field.number {
            case 1:
                // A decoder would merge a second resource with the first.
                guard !hasResource else { throw ProtobufReader.UncommonForm() }
                hasResource = true
                resource = try known.find(value, of: body)
            case 2: scopes.append(try EncodedScopeMetrics(value, of: body))
            case 3: _ = try body.text(in: value)
            default: break
            }
        }
    }
}

/// The metrics of one instrumentation scope of the sender.
struct EncodedScopeMetrics {
    private(set) var scope = OTLPInstrumentationScope()
    private(set) var metrics: [EncodedMetric] = []

    init(_ range: Range<Int>, of body: ProtobufReader) throws(ProtobufReader.UncommonForm) {
        var reader = ProtobufReader(body.bytes, range)
        var hasScope = false
        while let field = try reader.next() {
            guard case .bytes(let value) = field.value else { continue }
            switch field.number {
            case 1:
                guard !hasScope else { throw ProtobufReader.UncommonForm() }
                hasScope = true
                scope = try body.message(in: value, depth: .metric)
            case 2: metrics.append(try EncodedMetric(value, of: body))
            case 3: _ = try body.text(in: value)
            default: break
            }
        }
    }
}

/// A metric in a body. A histogram's points are read only if the histogram is needed.
struct EncodedMetric {
    private(set) var name = ""
    private(set) var unit = ""
    /// `nil` if the metric is not a histogram.
    private(set) var histogram: EncodedHistogram?
    private let body: ProtobufReader
    private let range: Range<Int>

    init(_ range: Range<Int>, of body: ProtobufReader) throws(ProtobufReader.UncommonForm) {
        (self.body, self.range) = (body, range)
        var hasData = false
        var reader = ProtobufReader(body.bytes, range)
        while let field = try reader.next() {
            guard case .bytes(let value) = field.value else { continue }
            switch field.number {
            case 1: name = try body.text(in: value)
            case 2: _ = try body.text(in: value)
            case 3: unit = try body.text(in: value)
            case 5, 7, 9, 10, 11:
                // A decoder would merge a second value with the first, or replace it.
                guard !hasData else { throw ProtobufReader.UncommonForm() }
                hasData = true
                guard field.number == 9 || field.number == 10 else { break }
                histogram = try EncodedHistogram(ProtobufReader(body.bytes, value), isExponential: field.number == 10)
            default: break
            }
        }
    }

    /// Returns the whole metric, decoded.
    ///
    /// A caller that reads nothing else of a metric must call this, so that a malformed body is refused. Only the exemplars of
    /// histograms are never checked.
    ///
    /// - Throws: if the bytes are not a metric.
    func message() throws(ProtobufReader.UncommonForm) -> OTLPMetric {
        try body.message(in: range, depth: .metric)
    }
}

/// A histogram in a body, with its points not yet read.
struct EncodedHistogram {
    /// A reader at the beginning of the histogram.
    let reader: ProtobufReader
    let isExponential: Bool
    private(set) var temporality = OTLPAggregationTemporality.unspecified
    /// The number of points that are long enough to hold a count and an end.
    private(set) var pointCount = 0

    init(_ reader: ProtobufReader, isExponential: Bool) throws(ProtobufReader.UncommonForm) {
        (self.reader, self.isExponential) = (reader, isExponential)
        var rest = reader
        while let field = try rest.next() {
            // Both kinds of histogram have the same field numbers. The temporality comes after the points.
            switch (field.number, field.value) {
            case (1, .bytes(let point)): pointCount += point.count < Self.shortestPoint ? 0 : 1
            case (2, .varint(let number)):
                temporality =
                    OTLPAggregationTemporality(rawValue: Int(Int32(truncatingIfNeeded: number))) ?? temporality
            default: break
            }
        }
    }

    /// The bytes of a count and an end, nine each.
    private static let shortestPoint = 18
}
