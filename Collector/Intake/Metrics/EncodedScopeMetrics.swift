import MartletOTLP

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
