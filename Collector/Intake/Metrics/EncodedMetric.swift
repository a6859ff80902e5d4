import MartletOTLP

/// A metric in a body. The points of a histogram are read only if the histogram is wanted.
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
                // A second value would be merged with the first or replace it.
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
    /// A caller that reads nothing else of a metric must call this, because a malformed body is refused. The exemplars of
    /// a histogram are the only part that is never checked.
    ///
    /// - Throws: if the bytes are not a metric.
    func message() throws(ProtobufReader.UncommonForm) -> OTLPMetric {
        try body.message(in: range, depth: .metric)
    }
}
