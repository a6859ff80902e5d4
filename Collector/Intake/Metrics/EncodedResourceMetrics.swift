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
                // A second resource would be merged with the first.
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
