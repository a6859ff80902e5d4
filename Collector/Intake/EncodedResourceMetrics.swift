import MartletOTLP
import MartletTelemetry

/// The metrics of one sender where they stand in a body.
struct EncodedResourceMetrics {
    private(set) var resource = TelemetryResource(OTLPResource())
    private(set) var scopes: [EncodedScopeMetrics] = []

    var metrics: some Sequence<EncodedMetric> { scopes.lazy.flatMap(\.metrics) }

    init(
        _ range: Range<Int>, of body: ProtobufReader, _ known: KnownResources
    ) throws(ProtobufReader.Unusual) {
        var reader = ProtobufReader(body.bytes, range)
        var hasResource = false
        while let field = try reader.next() {
            guard case .bytes(let value) = field.value else { continue }
            switch field.number {
            case 1:
                // Another would be merged with it.
                guard !hasResource else { throw ProtobufReader.Unusual() }
                hasResource = true
                resource = try known.find(value, of: body)
            case 2: scopes.append(try EncodedScopeMetrics(value, of: body))
            case 3: _ = try body.text(in: value)
            default: break
            }
        }
    }
}

/// Those of one of its instrumentation scopes.
struct EncodedScopeMetrics {
    private(set) var scope = OTLPInstrumentationScope()
    private(set) var metrics: [EncodedMetric] = []

    init(_ range: Range<Int>, of body: ProtobufReader) throws(ProtobufReader.Unusual) {
        var reader = ProtobufReader(body.bytes, range)
        var hasScope = false
        while let field = try reader.next() {
            guard case .bytes(let value) = field.value else { continue }
            switch field.number {
            case 1:
                guard !hasScope else { throw ProtobufReader.Unusual() }
                hasScope = true
                scope = try body.message(in: value, depth: .metric)
            case 2: metrics.append(try EncodedMetric(value, of: body))
            case 3: _ = try body.text(in: value)
            default: break
            }
        }
    }
}
