import MartletTelemetry

/// An exponential histogram as the bytes of a BLOB column.
///
///     version      1 byte, 1
///     bounds       1 byte: bit 0 a smallest value follows, bit 1 a largest
///     sum          8 bytes, the bits of a Double, little-endian; then the bounds likewise
///     scale        varint, zigzag
///     zero count   varint
///     offset       varint, zigzag
///     buckets      varints: n > 0 is a bucket of n values, 0 and n are n + 1 empty buckets
///
/// One interval of one endpoint has clusters of neighbouring buckets with small counts, and gaps between them: a full
/// bucket costs one byte and a gap of any length two or three, where index and count pairs would cost two for each bucket.
enum SketchBlob {
    private static let version: UInt8 = 1

    static func encode(_ sketch: ExponentialHistogram) -> [UInt8] {
        var writer = ByteWriter()
        append(sketch, to: &writer)
        return writer.bytes
    }

    /// `nil` when the bytes cannot have come from ``encode(_:)``.
    static func decode(_ bytes: [UInt8]) -> ExponentialHistogram? {
        var (reader, sketch) = (ByteReader(bytes), SparseHistogram())
        guard read(&reader, into: &sketch) else { return nil }
        var histogram = ExponentialHistogram(scale: sketch.scale)
        histogram.merge(sketch)
        return histogram
    }

    static func append(_ sketch: ExponentialHistogram, to writer: inout ByteWriter) {
        writer.append(version)
        writer.append((sketch.min == nil ? 0 : 1) | (sketch.max == nil ? 0 : 2))
        writer.append(bitsOf: sketch.sum)
        if let min = sketch.min { writer.append(bitsOf: min) }
        if let max = sketch.max { writer.append(bitsOf: max) }
        writer.append(zigzag: sketch.scale)
        writer.append(varint: sketch.zeroCount)
        writer.append(zigzag: sketch.offset)
        var gap: UInt64 = 0
        for bucket in sketch.buckets {
            if bucket == 0 {
                gap += 1
                continue
            }
            writer.append(gap: gap)
            gap = 0
            writer.append(varint: bucket)
        }
        writer.append(gap: gap)
    }

    /// Reads to the reader's end. `false` when the bytes cannot have come from ``append(_:to:)``; what `sketch` holds then is
    /// nothing to use.
    static func read(_ reader: inout ByteReader, into sketch: inout SparseHistogram) -> Bool {
        guard reader.byte() == version, let bounds = reader.byte(), bounds < 4, let sum = reader.double() else {
            return false
        }
        let min = bounds & 1 == 0 ? nil : reader.double()
        let max = bounds & 2 == 0 ? nil : reader.double()
        guard let scale = reader.zigzag(), let zeroCount = reader.varint(), let offset = reader.zigzag(),
            sketch.begin(scale: scale, sum: sum, min: min, max: max, zeroCount: zeroCount)
        else { return false }
        return readBuckets(&reader, from: offset, into: &sketch)
    }

    private static func readBuckets(
        _ reader: inout ByteReader, from offset: Int32, into sketch: inout SparseHistogram
    ) -> Bool {
        var index = Int64(offset)
        let end = index + Int64(ExponentialHistogram.maxBuckets)
        while !reader.isAtEnd {
            guard let value = reader.varint(), index < end else { return false }
            if value > 0 {
                guard sketch.append(value, at: index) else { return false }
                index += 1
            } else {
                guard let more = reader.varint(), more < ExponentialHistogram.maxBuckets else { return false }
                index += Int64(more) + 1
            }
        }
        return index <= end
    }
}

extension ByteWriter {
    fileprivate mutating func append(gap: UInt64) {
        guard gap > 0 else { return }
        append(0)
        append(varint: gap - 1)
    }
}
