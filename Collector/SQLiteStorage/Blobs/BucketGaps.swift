import MartletTelemetry

/// The buckets of a sketch as varints: n > 0 is a bucket of n values, 0 and n are n + 1 empty buckets.
///
/// One interval of one endpoint has clusters of neighbouring buckets with small counts, and gaps between them. A full bucket
/// costs one byte and a gap of any length two or three; pairs of index and count would cost two for each bucket.
enum BucketGaps {
    static func append(_ buckets: [UInt64], to writer: inout ByteWriter) {
        var gap: UInt64 = 0
        for bucket in buckets {
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

    /// Reads buckets to the reader's end into `sketch`, as many as it has room for; `offset` is the first bucket's index.
    /// Returns `false` if the bytes cannot have come from ``append(_:to:)``.
    static func read(_ reader: ByteReader, from offset: Int32, into sketch: inout SparseHistogram) -> Bool {
        guard let count = readBuckets(reader, from: offset, into: &sketch.buckets) else { return false }
        sketch.bucketCount = count
        sketch.valuesInBuckets = 0
        var isTooLarge = false
        for index in 0..<count {
            let (sum, isBeyond) = sketch.valuesInBuckets.addingReportingOverflow(sketch.buckets[index].count)
            (sketch.valuesInBuckets, isTooLarge) = (sum, isTooLarge || isBeyond)
        }
        return !isTooLarge
    }

    /// Reads to the reader's end into `buckets`, as many as it has room for, and returns the number of buckets read.
    ///
    /// No branch depends on the meaning of a byte. Buckets and gaps alternate at random, and mispredicted branches took
    /// longer than all else.
    @inline(never)
    private static func readBuckets(
        _ reader: ByteReader, from offset: Int32, into buckets: inout [SparseHistogram.Bucket]
    ) -> Int? {
        var reader = reader
        var (index, count) = (Int(offset), 0)
        // 1 after the 0 that begins a gap: the next number is the gap's length.
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
