import MartletOTLP

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
            // Both kinds of histogram have the same field numbers. The temporality stands behind the points.
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
