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
        return histogram.merge(sketch) ? histogram : nil
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
        sketch.sum = sum
        sketch.min = bounds & 1 == 0 ? nil : reader.double()
        sketch.max = bounds & 2 == 0 ? nil : reader.double()
        guard let scale = reader.zigzag(), let zeroCount = reader.varint(), let offset = reader.zigzag() else {
            return false
        }
        sketch.scale = scale
        sketch.zeroCount = zeroCount
        return readBuckets(&reader, from: offset, into: &sketch.buckets)
    }

    private static func readBuckets(
        _ reader: inout ByteReader, from offset: Int32, into buckets: inout [(index: Int32, count: UInt64)]
    ) -> Bool {
        buckets.removeAll(keepingCapacity: true)
        let (end, isTooLarge) = offset.addingReportingOverflow(Int32(ExponentialHistogram.maxBuckets))
        guard !isTooLarge else { return false }
        var index = offset
        // A copy that nobody else sees stays in registers.
        var rest = reader
        while !rest.isAtEnd {
            guard let value = rest.varint(), index < end else { return false }
            if value > 0 {
                buckets.append((index, value))
                index += 1
            } else {
                guard let more = rest.varint(), more < UInt64(end - index) else { return false }
                index += Int32(more) + 1
            }
        }
        return true
    }
}

extension ByteWriter {
    fileprivate mutating func append(gap: UInt64) {
        guard gap > 0 else { return }
        append(0)
        append(varint: gap - 1)
    }
}
