import Fixtures
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

@Suite struct SketchBlobTests {
    private func bytes(of sketch: ExponentialHistogram, as form: SketchBlob.Form) -> [UInt8] {
        var writer = ByteWriter()
        SketchBlob.append(sketch, as: form, to: &writer)
        return writer.bytes
    }

    @Test(
        arguments: [
            [], [0.1], [0.1, 0.1, 0.100001], [1e-9, 1e9], [0, 0, 3.5], [0.001, 0.0011, 0.5, 0.51, 7, 30],
        ], SketchBlob.Form.allCases)
    func aSketchComesBackAsItWas(values: [Double], form: SketchBlob.Form) {
        var sketch = ExponentialHistogram()
        for value in values { sketch.record(value) }
        #expect(SketchBlob.decode(bytes(of: sketch, as: form)) == sketch)
    }

    @Test(arguments: SketchBlob.Form.allCases)
    func sketchWithoutBoundsAndWithEmptyOuterBucketsIsDecodedUnchanged(form: SketchBlob.Form) throws {
        let sketch = try #require(
            ExponentialHistogram(
                scale: -3, sum: 12.5, min: nil, max: nil, zeroCount: 9, offset: -4,
                buckets: [0, 0, .max >> 1, 0, 0, 0, 1, 0]))
        var expected = ExponentialHistogram(scale: -3)
        for (index, count) in [(Int32(-2), UInt64.max >> 1), (2, 1)] {
            let bucket = ExponentialHistogram(
                scale: -3, sum: 0, min: nil, max: nil, zeroCount: 0, offset: index, buckets: [count])
            expected.merge(try #require(bucket))
        }
        let decoded = try #require(SketchBlob.decode(bytes(of: sketch, as: form)))
        #expect(decoded.buckets == expected.buckets && decoded.offset == expected.offset)
        #expect((decoded.scale, decoded.count, decoded.sum, decoded.min) == (-3, sketch.count, 12.5, nil))
    }

    @Test(arguments: SketchBlob.Form.allCases)
    func thousandValuesOfOneEndpointTakeLessThanThreeHundredBytes(form: SketchBlob.Form) {
        var sketch = ExponentialHistogram()
        for step in 0..<1000 { sketch.record(0.05 + Double(step) * 0.00005) }
        #expect(bytes(of: sketch, as: form).count < 300)
    }

    @Test(arguments: [(distance: 1, count: 1), (1, 100), (1, 10_000), (20, 1), (20, 3), (300, 1)])
    func tokensAreNoLargerThanGaps(distance: Int, count: UInt64) throws {
        let buckets = (0..<500).map { $0.isMultiple(of: distance) ? count : 0 }
        let sketch = try #require(
            ExponentialHistogram(scale: 7, sum: 1, min: 1, max: 2, zeroCount: 0, offset: 0, buckets: buckets))
        let (tokens, gaps) = (bytes(of: sketch, as: .tokens), bytes(of: sketch, as: .gaps))
        // Tokens take one more byte, which says how they are encoded.
        #expect(tokens.count <= gaps.count + 1)
    }

    @Test(arguments: SketchBlob.Form.allCases)
    func bucketsAndGapsOfAnySizeAreDecodedUnchanged(form: SketchBlob.Form) throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<100 {
            var buckets: [UInt64] = [1]
            for _ in 0..<Int.random(in: 0...10, using: &random) {
                buckets += repeatElement(0, count: Int.random(in: 0...300, using: &random))
                buckets += (0..<Int.random(in: 1...5, using: &random)).map { _ in
                    UInt64.random(in: 1...(1 << UInt64.random(in: 0...40, using: &random)), using: &random)
                }
            }
            let offset = Int32.random(in: -5000...5000, using: &random)
            let sketch = try #require(
                ExponentialHistogram(
                    scale: 7, sum: 1, min: 1, max: nil, zeroCount: 3, offset: offset, buckets: buckets))
            #expect(SketchBlob.decode(bytes(of: sketch, as: form)) == sketch)
        }
    }

    @Test(arguments: SketchBlob.Form.allCases)
    func truncatedSketchIsRefusedOrSmaller(form: SketchBlob.Form) {
        var sketch = ExponentialHistogram()
        for value in [0.001, 0.5, 30] { sketch.record(value) }
        let blob = bytes(of: sketch, as: form)
        for length in 0..<blob.count {
            let decoded = SketchBlob.decode(Array(blob.prefix(length)))
            #expect(decoded?.count != sketch.count)
        }
    }

    @Test(arguments: SketchBlob.Form.allCases)
    func decoderTrapsOnNoByte(form: SketchBlob.Form) {
        var sketch = ExponentialHistogram()
        for value in [0.001, 0.5, 30] { sketch.record(value) }
        let blob = bytes(of: sketch, as: form)
        for index in blob.indices {
            for byte in stride(from: UInt8.min, through: .max, by: 15) {
                var damaged = blob
                damaged[index] = byte
                guard var decoded = SketchBlob.decode(damaged) else { continue }
                decoded.merge(sketch)
                _ = decoded.quantile(0.99)
                #expect(decoded.buckets.count <= ExponentialHistogram.maxBuckets)
            }
        }
    }

    @Test(arguments: SketchBlob.Form.allCases)
    func gapThatWouldFillMemoryIsRefused(form: SketchBlob.Form) {
        var writer = ByteWriter()
        writer.append(form.rawValue)
        writer.append(0)
        writer.append(bitsOf: 1)
        writer.append(zigzag: 7)
        writer.append(varint: 0)
        writer.append(zigzag: 0)
        if form == .tokens { writer.append(4) }
        writer.append(form == .tokens ? 1 : 0)
        writer.append(varint: .max)
        #expect(SketchBlob.decode(writer.bytes) == nil)
    }
}
