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
        return writer.bytes
    }

    /// `nil` when the bytes cannot have come from ``encode(_:)``.
    static func decode(_ bytes: [UInt8]) -> ExponentialHistogram? {
        var reader = ByteReader(bytes)
        guard reader.byte() == version, let bounds = reader.byte(), bounds < 4, let sum = reader.double() else {
            return nil
        }
        var min: Double?
        var max: Double?
        if bounds & 1 != 0 { min = reader.double() }
        if bounds & 2 != 0 { max = reader.double() }
        guard let scale = reader.zigzag(), let zeroCount = reader.varint(), let offset = reader.zigzag(),
            let buckets = buckets(&reader)
        else { return nil }
        return ExponentialHistogram(
            scale: scale, sum: sum, min: min, max: max, zeroCount: zeroCount, offset: offset, buckets: buckets)
    }

    private static func buckets(_ reader: inout ByteReader) -> [UInt64]? {
        var buckets: [UInt64] = []
        while !reader.isAtEnd {
            guard let value = reader.varint() else { return nil }
            if value > 0 {
                buckets.append(value)
            } else {
                guard let more = reader.varint(), more < ExponentialHistogram.maxBuckets else { return nil }
                buckets.append(contentsOf: repeatElement(0, count: Int(more) + 1))
            }
            guard buckets.count <= ExponentialHistogram.maxBuckets else { return nil }
        }
        return buckets
    }
}

extension ByteWriter {
    fileprivate mutating func append(gap: UInt64) {
        guard gap > 0 else { return }
        append(0)
        append(varint: gap - 1)
    }
}
