import MartletOTLP

/// A histogram where it stands in a body.
struct EncodedHistogram {
    /// At its beginning.
    let reader: ProtobufReader
    let isExponential: Bool
    private(set) var temporality = OTLPAggregationTemporality.unspecified
    private(set) var pointCount = 0

    init(_ reader: ProtobufReader, isExponential: Bool) throws(ProtobufReader.Unusual) {
        (self.reader, self.isExponential) = (reader, isExponential)
        var rest = reader
        while let field = try rest.next() {
            // Both kinds of histogram have the same numbers. The temporality stands behind the points.
            switch (field.number, field.value) {
            case (1, .bytes): pointCount += 1
            case (2, .varint(let number)):
                temporality =
                    OTLPAggregationTemporality(rawValue: Int(Int32(truncatingIfNeeded: number))) ?? temporality
            default: break
            }
        }
    }
}
