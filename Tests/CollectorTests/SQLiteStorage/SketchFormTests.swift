import Fixtures
import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// Rolled-up points of this version, and of earlier versions with another form of sketches.
@Suite struct SketchFormTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { [clock] in clock.time })
    }

    private func store(_ ends: some Sequence<UInt64>) async throws {
        for end in ends {
            let later = Double(end) * 0.0001
            let values = (1...20).map { (n: Int) -> Double in Double(n * n) * 0.001 + later }
            let points = [200, 503].map { Samples.point(Samples.dimensions(status: $0), values, end: end) }
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
        }
    }

    private func read(from: UInt64 = 0, to: UInt64 = 7200) async throws -> StatisticsAnswer {
        let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
        return try await storage.statistics(StatisticsQuery(window: window, by: [.endpoint]))
    }

    /// Returns the number of bytes of a tier's points.
    private func size(ofTier tier: Int) throws -> Int {
        try DatabaseQueue(path: folder.path("collector.sqlite")).read {
            try Int.fetchOne(
                $0, sql: "SELECT total(length(points)) FROM version_chunk WHERE tier = ?", arguments: [tier]) ?? 0
        }
    }

    /// Rewrites the rolled-up points in the form of an earlier version.
    private func rewriteRolledUp() async throws {
        try await DatabaseQueue(path: folder.path("collector.sqlite")).write { db in
            for id in try Int64.fetchAll(db, sql: "SELECT id FROM version_chunk") {
                let bytes = try #require(try StoredChunk.find(id, in: .versions, db)?.bytes)
                var (entries, reader, entryReader) = (ChunkEntries(bytes), ByteReader(bytes), EntryReader())
                var blob = ChunkBlob(.gaps)
                while let entry = entries.entry {
                    var statistics = RequestStatistics()
                    #expect(entryReader.read(entry, of: &reader))
                    entryReader.add(to: &statistics)
                    blob.append(statistics, series: entries.series)
                    entries.next()
                }
                try db.execute(
                    sql: "UPDATE version_chunk SET points = ?, checksum = ? WHERE id = ?",
                    arguments: [Data(blob.bytes), Int64(checksumOf: blob.bytes), id])
            }
        }
    }

    @Test func rolledUpPointsReadTheSameInEitherForm() async throws {
        try await store(stride(from: 10, through: 7200, by: 10))
        let delivered = try await read()
        #expect(delivered.groups.map(\.count) == [28_800])
        clock.time = Samples.time(7200 + 600)
        try await storage.maintain()
        let tokens = try await read()
        let (hours, minutes) = (try size(ofTier: 2), try size(ofTier: 1))
        try await rewriteRolledUp()
        let gaps = try await read()
        #expect(try size(ofTier: 2) > hours && size(ofTier: 1) > minutes)
        for answer in [tokens, gaps] {
            #expect(answer.damagedPoints == 0)
            #expect(answer.byValues.mapValues(\.duration.buckets) == delivered.byValues.mapValues(\.duration.buckets))
            #expect(answer.byValues.mapValues(\.duration.count) == delivered.byValues.mapValues(\.duration.count))
        }
    }

    @Test func minutesOfAnEarlierVersionAndThisOneBecomeAnHour() async throws {
        try await store(stride(from: 10, through: 1800, by: 10))
        clock.time = Samples.time(1800 + 100)
        try await storage.maintain()
        try await rewriteRolledUp()
        try await store(stride(from: 1810, through: 7200, by: 10))
        let before = try await read()
        clock.time = Samples.time(7200 + 600)
        try await storage.maintain()
        #expect(try size(ofTier: 2) > 0)
        let after = try await read()
        #expect(after.damagedPoints == 0)
        #expect(after.byValues.mapValues(\.duration.buckets) == before.byValues.mapValues(\.duration.buckets))
    }
}
