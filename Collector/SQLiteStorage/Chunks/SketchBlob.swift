import MartletTelemetry

/// An exponential histogram as the bytes of a BLOB column.
///
///     form         1 byte
///     bounds       1 byte: bit 0 a smallest value follows, bit 1 a largest
///     sum          8 bytes, the bits of a Double, little-endian; then the bounds in the same form
///     scale        varint, zigzag
///     zero count   varint
///     offset       varint, zigzag
///     buckets      ``BucketGaps`` or ``BucketTokens``
enum SketchBlob {
    /// The encoding of the buckets. The raw value is the first byte.
    enum Form: UInt8, CaseIterable {
        /// The form of delivered points. It must never change: points sent twice without an id are recognized by their bytes, which
        /// an earlier version may have stored.
        case gaps = 1
        /// The form of rolled-up points, which are read repeatedly. It needs fewer bytes and less work.
        case tokens = 2
    }

    static func encode(_ sketch: ExponentialHistogram) -> [UInt8] {
        var writer = ByteWriter()
        append(sketch, as: .gaps, to: &writer)
        return writer.bytes
    }

    /// Returns `nil` if the bytes cannot come from ``append(_:as:to:)``.
    static func decode(_ bytes: [UInt8]) -> ExponentialHistogram? {
        var (reader, sketch) = (ByteReader(bytes), SparseHistogram())
        guard read(&reader, into: &sketch) else { return nil }
        var histogram = ExponentialHistogram(scale: sketch.scale)
        return histogram.merge(sketch) ? histogram : nil
    }

    static func append(_ sketch: ExponentialHistogram, as form: Form, to writer: inout ByteWriter) {
        let sketch = sketch.joined
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

    /// Reads up to the reader's end. Returns `false` if the bytes cannot come from ``append(_:as:to:)``; `sketch` is then unusable.
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

/// The buckets of a sketch as varints. A number n > 0 is a bucket of n values; 0 and then n are n + 1 empty buckets.
///
/// One interval of one endpoint has clusters of neighbouring buckets with small counts, separated by gaps. A full bucket costs one
/// byte, and a gap of any length two or three. Pairs of index and count would cost two bytes for each bucket.
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

    /// Reads buckets up to the reader's end into `sketch`, as many as fit. `offset` is the first bucket's index. Returns `false` if
    /// the bytes cannot come from ``append(_:to:)``.
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

    /// Reads up to the reader's end into `buckets`, as many as fit, and returns the number of buckets read.
    ///
    /// No branch depends on the meaning of a byte. Buckets and gaps alternate at random, and mispredicted branches took longer than
    /// all other work.
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

/// The non-empty buckets of a sketch, as one token for each:
///
///     bits         1 byte, how many bits of a token are its count, 1...15
///     tokens       1 byte each, or 2 bytes, little-endian, if the count has 8 bits or more. The low bits are the count, the
///                  others the distance from the previous bucket, 1 for a neighbour. A number that does not fit is 0 in the
///                  token and follows it as a varint, the distance first.
///
/// An hour of an endpoint with few requests has single values far apart. An hour of many requests has neighbouring buckets with
/// large counts. So each sketch chooses its own number of bits. A reader never has to guess: the next token is always a bucket.
enum BucketTokens {
    private static let maxBits = 15

    static func append(_ buckets: [UInt64], to writer: inout ByteWriter) {
        let bits = bits(for: buckets)
        writer.append(UInt8(bits))
        forEach(of: buckets) { distance, count in
            let distanceInToken = distance >> (size(ofTokensWith: bits) * 8 - bits) == 0 ? distance : 0
            let countInToken = count >> bits == 0 ? count : 0
            let token = distanceInToken << bits | countInToken
            writer.append(UInt8(truncatingIfNeeded: token))
            if bits >= 8 { writer.append(UInt8(truncatingIfNeeded: token >> 8)) }
            if distanceInToken == 0 { writer.append(varint: distance) }
            if countInToken == 0 { writer.append(varint: count) }
        }
    }

    /// Reads buckets up to the reader's end into `sketch`, as many as fit. `offset` is the first bucket's index. Returns `false` if
    /// the bytes cannot come from ``append(_:to:)``.
    static func read(_ reader: inout ByteReader, from offset: Int32, into sketch: inout SparseHistogram) -> Bool {
        guard let bits = reader.byte().map(Int.init), (1...maxBits).contains(bits),
            let (count, values) = read(reader, bits: bits, from: offset, into: &sketch.buckets)
        else { return false }
        sketch.bucketCount = count
        sketch.valuesInBuckets = values
        return true
    }

    /// Reads from a local copy of the reader, which the compiler keeps in registers.
    @inline(never)
    private static func read(
        _ reader: ByteReader, bits: Int, from offset: Int32, into buckets: inout [SparseHistogram.Bucket]
    ) -> (buckets: Int, values: UInt64)? {
        var reader = reader
        let mask = UInt64(1) << UInt64(bits) - 1
        let end = Int(offset) + ExponentialHistogram.maxBuckets
        var (index, read, values) = (Int(offset) - 1, 0, UInt64(0))
        while read < buckets.count, let low = reader.byte() {
            var token = UInt64(low)
            if bits >= 8 {
                guard let high = reader.byte() else { return nil }
                token |= UInt64(high) << 8
            }
            var (distance, count) = (token >> UInt64(bits), token & mask)
            if distance == 0 {
                guard let long = reader.varint(), (1...UInt64(ExponentialHistogram.maxBuckets)).contains(long) else {
                    return nil
                }
                distance = long
            }
            if count == 0 {
                guard let long = reader.varint(), long > 0 else { return nil }
                count = long
            }
            index &+= Int(distance)
            let (sum, isTooLarge) = values.addingReportingOverflow(count)
            guard index < end, !isTooLarge else { return nil }
            values = sum
            buckets[read] = (Int32(truncatingIfNeeded: index), count)
            read &+= 1
        }
        return reader.isAtEnd && index <= Int(Int32.max) ? (read, values) : nil
    }

    /// Calls `body` for each bucket with values, with its distance from the bucket before.
    private static func forEach(of buckets: [UInt64], _ body: (_ distance: UInt64, _ count: UInt64) -> Void) {
        var distance: UInt64 = 0
        for bucket in buckets {
            distance += 1
            guard bucket > 0 else { continue }
            body(distance, bucket)
            distance = 0
        }
    }

    // MARK: Choosing

    /// Returns the number of bits for counts that makes the tokens shortest.
    private static func bits(for buckets: [UInt64]) -> Int {
        var (allDistances, allCounts) = (UInt64(0), UInt64(0))
        forEach(of: buckets) { distance, count in
            allDistances |= distance
            allCounts |= count
        }
        // Most sketches fit tokens of one byte and need no comparison.
        if width(of: allDistances) + width(of: allCounts) <= 8 { return max(1, width(of: allCounts)) }
        var (distances, counts) = (Widths(), Widths())
        forEach(of: buckets) { distance, count in
            distances.add(distance)
            counts.add(count)
        }
        let tokens = distances.count
        let (ofDistances, ofCounts) = (distances.bytesOfVarints, counts.bytesOfVarints)
        func bytes(_ bits: Int) -> Int {
            let size = size(ofTokensWith: bits)
            return tokens * size + ofDistances[size * 8 - bits + 1] + ofCounts[bits + 1]
        }
        return (1...maxBits).min { bytes($0) < bytes($1) } ?? 1
    }

    private static func size(ofTokensWith bits: Int) -> Int { bits < 8 ? 1 : 2 }

    private static func width(of number: UInt64) -> Int { UInt64.bitWidth - number.leadingZeroBitCount }

    /// The counts of numbers by their width in bits.
    private struct Widths {
        private(set) var count = 0
        private var counts = [Int](repeating: 0, count: UInt64.bitWidth + 2)

        mutating func add(_ number: UInt64) {
            count += 1
            counts[BucketTokens.width(of: number)] += 1
        }

        /// For each width, the bytes that all numbers of at least this width take as varints.
        var bytesOfVarints: [Int] {
            var bytes = counts
            for width in (1...UInt64.bitWidth).reversed() {
                bytes[width] = bytes[width] * ((width + 6) / 7) + bytes[width + 1]
            }
            return bytes
        }
    }
}
