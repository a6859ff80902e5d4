import Foundation
import Synchronization
import Testing

@testable import Martlet

/// A seeded fuzzer for a segment: after any damage, exactly the intact records are read.
@Suite final class JournalDamageTests {
    private let random = Atomic<UInt64>(4711)

    /// Returns a segment with 40 records.
    private static func segment() throws -> [UInt8] {
        let fixture = try JournalFixture()
        for number in 0..<40 {
            fixture.recorder.record(RecorderTests.request("http://host/\(String(repeating: "p", count: number))"))
        }
        return try #require(try fixture.segmentFiles().first { $0.name == "0.journal" }).bytes
    }

    private func count(_ bytes: [UInt8]) -> UInt64 {
        var statistics = recordsRead(bytes).statistics
        return statistics.take(at: nil).requests
    }

    @Test func truncatedSegmentGivesTheRecordsBeforeTheCut() throws {
        let bytes = try Self.segment()
        #expect(count(bytes) == 40)
        let used = try #require(bytes.lastIndex { $0 != 0 }) + 1
        var last: UInt64 = 0
        for length in 0...used {
            let found = count(Array(bytes[..<length]))
            #expect(found >= last)
            last = found
        }
        #expect(last >= 39)
    }

    @Test func wrongBitLosesAtMostOneRecord() throws {
        let bytes = try Self.segment()
        let used = try #require(bytes.lastIndex { $0 != 0 }) + 1
        for _ in 0..<2_000 {
            var damaged = Array(bytes[..<(used + 64)])
            let offset = SplitMix64.next(of: random) % UInt64(used - JournalFormat.headerBytes)
            damaged[JournalFormat.headerBytes + Int(offset)] ^= 1 << UInt8(SplitMix64.next(of: random) % 8)
            #expect((39...40).contains(count(damaged)))
        }
    }

    @Test func damagedHeaderIsRefused() throws {
        let bytes = try Self.segment()
        for offset in 0..<48 {
            var damaged = bytes
            damaged[offset] ^= 0x10
            #expect(recordsRead(damaged).header == .damaged)
        }
    }

    @Test func readingNoiseEnds() throws {
        let bytes = try Self.segment()
        for _ in 0..<50 {
            var noise = Array(bytes[..<(JournalFormat.headerBytes + 8192)])
            for offset in JournalFormat.headerBytes..<noise.count {
                noise[offset] = UInt8(truncatingIfNeeded: SplitMix64.next(of: random))
            }
            #expect(count(noise) == 0)
        }
    }
}
