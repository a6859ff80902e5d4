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
        sketch.makeRoom(forBuckets: reader.bytesLeft)
        guard let count = readBuckets(reader, from: offset, into: &sketch.buckets) else { return false }
        sketch.bucketCount = count
        return true
    }

    /// Reads to the reader's end into the room that there is, and returns how many they are.
    ///
    /// No branch depends on what a byte stands for. Buckets and gaps alternate as chance has it, so that guessing which is
    /// next, and guessing wrong, took longer than all else.
    @inline(never)
    private static func readBuckets(
        _ reader: ByteReader, from offset: Int32, into buckets: inout [SparseHistogram.Bucket]
    ) -> Int? {
        var reader = reader
        var (index, count) = (Int(offset), 0)
        // 1 behind the 0 that a gap begins with: the next number is its length.
        var isInGap = 0
        while count < buckets.count, let byte = reader.byte() {
            var value = UInt64(byte)
            if byte >= 0x80 {
                guard let long = reader.longVarint(from: byte),
                    isInGap == 0 || long <= UInt64(ExponentialHistogram.maxBuckets)
                else { return nil }
                value = long
            }
            let isEmpty = value == 0 ? 1 : 0
            let isBucket = (1 - isEmpty) & ~isInGap
            buckets[count] = (Int32(truncatingIfNeeded: index), value)
            count &+= isBucket
            index &+= isBucket &+ (Int(truncatingIfNeeded: value) &+ 1) & -isInGap
            isInGap = isEmpty & ~isInGap
        }
        let isWhole = reader.isAtEnd && isInGap == 0
        return isWhole && index <= Int(offset) + ExponentialHistogram.maxBuckets && index <= Int(Int32.max)
            ? count : nil
    }
}

extension ByteWriter {
    fileprivate mutating func append(gap: UInt64) {
        guard gap > 0 else { return }
        append(0)
        append(varint: gap - 1)
    }
}
