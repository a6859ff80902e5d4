import MartletTelemetry

/// An exponential histogram as the bytes of a BLOB column.
///
///     form         1 byte
///     bounds       1 byte: bit 0 a smallest value follows, bit 1 a largest
///     sum          8 bytes, the bits of a Double, little-endian; then the bounds likewise
///     scale        varint, zigzag
///     zero count   varint
///     offset       varint, zigzag
///     buckets      ``BucketGaps`` or ``BucketTokens``
enum SketchBlob {
    /// The encoding of the buckets. The raw value is the first byte.
    enum Form: UInt8, CaseIterable {
        /// The form of delivered points. It must never change: points that are sent twice without an id are found by their
        /// bytes, which an earlier version may have stored.
        case gaps = 1
        /// The form of rolled-up points, which are read repeatedly: fewer bytes and less work.
        case tokens = 2
    }

    static func encode(_ sketch: ExponentialHistogram, as form: Form = .gaps) -> [UInt8] {
        var writer = ByteWriter()
        append(sketch, as: form, to: &writer)
        return writer.bytes
    }

    /// Returns `nil` if the bytes cannot have come from ``encode(_:as:)``.
    static func decode(_ bytes: [UInt8]) -> ExponentialHistogram? {
        var (reader, sketch) = (ByteReader(bytes), SparseHistogram())
        guard read(&reader, into: &sketch) else { return nil }
        var histogram = ExponentialHistogram(scale: sketch.scale)
        return histogram.merge(sketch) ? histogram : nil
    }

    static func append(_ sketch: ExponentialHistogram, as form: Form, to writer: inout ByteWriter) {
        writer.append(form.rawValue)
        writer.append((sketch.min == nil ? 0 : 1) | (sketch.max == nil ? 0 : 2))
        writer.append(bitsOf: sketch.sum)
        if let min = sketch.min { writer.append(bitsOf: min) }
        if let max = sketch.max { writer.append(bitsOf: max) }
        writer.append(zigzag: sketch.scale)
        writer.append(varint: sketch.zeroCount)
        writer.append(zigzag: sketch.offset)
        switch form {
        case .gaps: BucketGaps.append(sketch.buckets, to: &writer)
        case .tokens: BucketTokens.append(sketch.buckets, to: &writer)
        }
    }

    /// Reads to the reader's end. Returns `false` if the bytes cannot have come from ``append(_:as:to:)``; `sketch` is then
    /// unusable.
    static func read(_ reader: inout ByteReader, into sketch: inout SparseHistogram) -> Bool {
        guard let form = reader.byte().flatMap(Form.init), let bounds = reader.byte(), bounds < 4,
            let sum = reader.double()
        else { return false }
        sketch.sum = sum
        sketch.min = bounds & 1 == 0 ? nil : reader.double()
        sketch.max = bounds & 2 == 0 ? nil : reader.double()
        guard let scale = reader.zigzag(), let zeroCount = reader.varint(), let offset = reader.zigzag() else {
            return false
        }
        sketch.scale = scale
        sketch.zeroCount = zeroCount
        sketch.makeRoom(forBuckets: reader.bytesLeft)
        return switch form {
        case .gaps: BucketGaps.read(reader, from: offset, into: &sketch)
        case .tokens: BucketTokens.read(&reader, from: offset, into: &sketch)
        }
    }
}
