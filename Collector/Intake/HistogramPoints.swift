import MartletOTLP
import MartletTelemetry

/// Reads the points of a histogram from a body, one after the other.
struct HistogramPoints {
    private let histogram: EncodedHistogram
    private let requests: MeasuredRequests
    private let known: KnownAttributes
    private var points: ProtobufReader
    /// The attributes of the current point. All points reuse the same memory.
    private var attributes = AttributeBytes()

    init(_ histogram: EncodedHistogram, of requests: MeasuredRequests, _ known: KnownAttributes) {
        (self.histogram, self.requests, self.known) = (histogram, requests, known)
        points = histogram.reader
    }

    /// Returns the next point that has values or claims to have some; `nil` after the last.
    mutating func next() throws(ProtobufReader.UncommonForm) -> HistogramPoint? {
        while let field = try points.next() {
            guard field.number == 1, case .bytes(let range) = field.value else { continue }
            attributes.removeAll()
            var reader = ProtobufReader(points.bytes, range)
            let (figures, buckets) = try histogram.isExponential ? exponential(&reader) : explicit(&reader)
            let point = HistogramPoint(
                attributes: try known.find(attributes, of: requests), figures: figures, buckets: buckets,
                temporality: histogram.temporality)
            if point.count > 0 || point.buckets.hasValues { return point }
        }
        return nil
    }

    /// Reads a message `HistogramDataPoint`.
    private mutating func explicit(
        _ reader: inout ProtobufReader
    ) throws(ProtobufReader.UncommonForm) -> (HistogramPoint.Figures, HistogramPoint.Buckets) {
        var figures = HistogramPoint.Figures()
        var (bounds, counts): ([Double], [UInt64]) = ([], [])
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (2...5, .fixed64(let bits)): figures.take(bits, field: field.number)
            case (6, .bytes(let range)): counts += try reader.fixed64s(in: range)
            case (7, .bytes(let range)): bounds += try reader.fixed64s(in: range).map(Double.init(bitPattern:))
            case (6...7, .fixed64): throw ProtobufReader.UncommonForm()
            case (9, .bytes(let range)): attributes.append(range, of: reader.bytes)
            case (11, .fixed64(let bits)): figures.min = Double(bitPattern: bits)
            case (12, .fixed64(let bits)): figures.max = Double(bitPattern: bits)
            default: break
            }
        }
        return (figures, .explicit(bounds: bounds, counts: counts))
    }

    /// Reads a message `ExponentialHistogramDataPoint`.
    private mutating func exponential(
        _ reader: inout ProtobufReader
    ) throws(ProtobufReader.UncommonForm) -> (HistogramPoint.Figures, HistogramPoint.Buckets) {
        var figures = HistogramPoint.Figures()
        var (scale, zeroCount): (Int32, UInt64) = (0, 0)
        var (positive, negative): (ExponentialBuckets?, ExponentialBuckets?)
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let range)): attributes.append(range, of: reader.bytes)
            case (2...5, .fixed64(let bits)): figures.take(bits, field: field.number)
            case (6, .varint(let number)): scale = Int32(zigzag: number)
            case (7, .fixed64(let number)): zeroCount = number
            case (8, .bytes(let range)):
                guard positive == nil else { throw ProtobufReader.UncommonForm() }
                positive = try ExponentialBuckets(range, in: reader)
            case (9, .bytes(let range)):
                guard negative == nil else { throw ProtobufReader.UncommonForm() }
                negative = try ExponentialBuckets(range, in: reader)
            case (12, .fixed64(let bits)): figures.min = Double(bitPattern: bits)
            case (13, .fixed64(let bits)): figures.max = Double(bitPattern: bits)
            default: break
            }
        }
        return (
            figures,
            .exponential(
                scale: scale, zeroCount: zeroCount, offset: positive?.offset ?? 0, counts: positive?.counts ?? [],
                negative: negative?.counts ?? [])
        )
    }
}

extension HistogramPoint.Figures {
    /// Reads a field that has the same number in both kinds of points.
    fileprivate mutating func take(_ bits: UInt64, field: Int) {
        switch field {
        case 2: start = bits
        case 3: end = bits
        case 4: count = bits
        case 5: sum = Double(bitPattern: bits)
        default: break
        }
    }
}

/// A message `Buckets`.
private struct ExponentialBuckets {
    var offset: Int32 = 0
    var counts: [UInt64] = []

    init(_ range: Range<Int>, in body: ProtobufReader) throws(ProtobufReader.UncommonForm) {
        var reader = ProtobufReader(body.bytes, range)
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .varint(let number)): offset = Int32(zigzag: number)
            case (2, .bytes(let range)):
                let more = try reader.varints(in: range)
                counts = counts.isEmpty ? more : counts + more
            case (2, .varint): throw ProtobufReader.UncommonForm()
            default: break
            }
        }
    }
}
