import MartletOTLP

/// A histogram where it stands in a body.
struct EncodedHistogram {
    /// At its beginning.
    let reader: ProtobufReader
    let isExponential: Bool
    private(set) var temporality = OTLPAggregationTemporality.unspecified
    /// Of points that are long enough to tell something.
    private(set) var pointCount = 0

    init(_ reader: ProtobufReader, isExponential: Bool) throws(ProtobufReader.Unusual) {
        (self.reader, self.isExponential) = (reader, isExponential)
        var rest = reader
        while let field = try rest.next() {
            // Both kinds of histogram have the same numbers. The temporality stands behind the points.
            switch (field.number, field.value) {
            case (1, .bytes(let point)): pointCount += point.count < Self.shortestPoint ? 0 : 1
            case (2, .varint(let number)):
                temporality =
                    OTLPAggregationTemporality(rawValue: Int(Int32(truncatingIfNeeded: number))) ?? temporality
            default: break
            }
        }
    }

    /// A count and an end, each nine bytes.
    private static let shortestPoint = 18
}
