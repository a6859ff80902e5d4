import MartletOTLP

/// A metric where it stands in a body. The points of a histogram are not read before it is known that they are wanted.
struct EncodedMetric {
    private(set) var name = ""
    private(set) var unit = ""
    /// `nil` for a metric that is no histogram.
    private(set) var histogram: EncodedHistogram?
    private let body: ProtobufReader
    private let range: Range<Int>

    init(_ range: Range<Int>, of body: ProtobufReader) throws(ProtobufReader.Unusual) {
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
                // Another would be merged with it or take its place.
                guard !hasData else { throw ProtobufReader.Unusual() }
                hasData = true
                guard field.number == 9 || field.number == 10 else { break }
                histogram = try EncodedHistogram(ProtobufReader(body.bytes, value), isExponential: field.number == 10)
            default: break
            }
        }
    }

    /// All of it.
    ///
    /// - Throws: for what is no metric. To be asked of each metric of which nothing else is read, for a body that is malformed
    ///   is refused; only of what nobody reads in a histogram, its exemplars, is nothing known.
    func message() throws(ProtobufReader.Unusual) -> OTLPMetric {
        try body.message(in: range, depth: .metric)
    }
}
