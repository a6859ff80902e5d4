import Fixtures
import Foundation
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import Martlet

/// The order of losses when room is short: first details, then resolution in time, and only then requests.
@Suite struct BufferRoomTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    @Test func detailsAreDroppedFirstOldestFirst() throws {
        try open { outbox in
            try outbox.store([1], as: Self.file(1, .metrics, requests: 5))
            for sequence in 1...4 as ClosedRange<UInt64> {
                try outbox.store(Self.details, as: Self.file(sequence, .traces, body: Self.details))
            }
            let block = try Self.block(in: temporary)
            let others = total - 5 * block
            // Room is made until 3/4 are in use.
            var room = BufferRoom(serviceDirectory: temporary.url, limit: (others + 4 * block + block / 2) * 4 / 3)
            #expect(room.size == 5 * block)
            let isThere = room.make(for: block, own: &outbox)
            #expect(isThere)
            let left = outbox.batches()?.map { "\($0.file.sequence) \($0.file.signal)" }
            #expect(left == ["1 metrics", "3 traces", "4 traces"])
            #expect(outbox.account.dropped == [:])
        }
    }

    @Test func metricsAreMergedBeforeAnyAreDropped() throws {
        var sample = SampleBatch(seed: 1)
        try open { outbox in
            try fill(&outbox, &sample, count: 6)
            var room = BufferRoom(serviceDirectory: temporary.url, limit: total)
            let isThere = room.make(for: 1, own: &outbox)
            #expect(isThere)
            let files = (outbox.batches() ?? []).map(\.file)
            #expect(files.map(\.first) == [1])
            #expect(files.map(\.sequence) == [6])
            #expect(files.map(\.requests) == [sample.captured])
            #expect(outbox.account == OutboxAccount())
            let requests = try Self.requests(of: &outbox)
            #expect(requests == sample.captured)
        }
    }

    @Test func mergedBatchIsAsOldAsItsLastSource() throws {
        var sample = SampleBatch(seed: 2)
        try open { outbox in
            try fill(&outbox, &sample, count: 6)
            var room = BufferRoom(serviceDirectory: temporary.url, limit: total)
            _ = room.make(for: 1, own: &outbox)
            let seconds = outbox.batches()?.map { $0.modified / 1_000_000_000 }
            #expect(seconds == [sample.time - 1])
        }
    }

    @Test func batchThatMayHaveArrivedIsNeverMergedNorSkippedOver() throws {
        var sample = SampleBatch(seed: 3)
        try open { outbox in
            try fill(&outbox, &sample, count: 6)
            let third = outbox.batches()?[2].file
            let sent = outbox.mark(try #require(third), at: nil)
            var room = BufferRoom(serviceDirectory: temporary.url, limit: total)
            _ = room.make(for: 1, own: &outbox)
            let files = (outbox.batches() ?? []).map(\.file)
            #expect(files.map { [$0.first, $0.sequence] } == [[1, 2], [3, 3], [4, 6]])
            #expect(files[1] == sent)
        }
    }

    @Test func batchesOfDifferentResourcesAreNotMerged() throws {
        var sample = SampleBatch(seed: 4)
        try open { outbox in
            try fill(&outbox, &sample, count: 3)
            sample.resource.captureMode = "off"
            try fill(&outbox, &sample, count: 3, from: 4)
            var room = BufferRoom(serviceDirectory: temporary.url, limit: total * 2 / 3)
            for _ in 1...2 { _ = room.make(for: 1, own: &outbox) }
            let files = (outbox.batches() ?? []).map(\.file)
            #expect(files.map { [$0.first, $0.sequence] } == [[1, 3], [4, 6]])
        }
    }

    @Test func batchesAreNotMergedAcrossAGap() throws {
        var sample = SampleBatch(seed: 5)
        try open { outbox in
            try fill(&outbox, &sample, count: 2)
            try fill(&outbox, &sample, count: 2, from: 4)
            var room = BufferRoom(serviceDirectory: temporary.url, limit: total)
            _ = room.make(for: 1, own: &outbox)
            let ranges = (outbox.batches() ?? []).map { [$0.file.first, $0.file.sequence] }
            #expect(ranges == [[1, 2], [4, 5]])
        }
    }

    @Test func damagedBatchIsCountedAndTheOthersAreMerged() throws {
        var sample = SampleBatch(seed: 6)
        try open { outbox in
            try fill(&outbox, &sample, count: 6)
            let third = outbox.batches()?[2].file
            let bad = try #require(third)
            try Data([1]).write(to: outbox.directory.appendingPathComponent(bad.name))
            try Self.age(bad, at: sample.time - 31, in: outbox.directory)
            var room = BufferRoom(serviceDirectory: temporary.url, limit: total)
            _ = room.make(for: 1, own: &outbox)
            let ranges = (outbox.batches() ?? []).map { [$0.file.first, $0.file.sequence] }
            #expect(ranges == [[1, 2], [4, 6]])
            #expect(outbox.account.dropped == [.corrupt: bad.requests])
        }
    }

    @Test func batchesOfDeadInstancesAreMergedAndThoseOfLivingOnesAreNot() throws {
        var sample = SampleBatch(seed: 7)
        var dead = try Outbox.create(instance: "dead", in: temporary.url)
        try fill(&dead, &sample, count: 6)
        let limit = total
        dead.close()
        try open { own in
            var room = BufferRoom(serviceDirectory: temporary.url, limit: limit)
            _ = room.make(for: 1, own: &own)
        }
        #expect(ranges(of: "dead") == [[1, 6]])

        var living = try Outbox.create(instance: "living", in: temporary.url)
        try fill(&living, &sample, count: 6)
        try open { own in
            var room = BufferRoom(serviceDirectory: temporary.url, limit: limit * 2)
            _ = room.make(for: 1, own: &own)
        }
        #expect(ranges(of: "living").count == 6)
        #expect(sequences(of: &living)?.count == 6)
    }

    @Test func oldestBatchIsDroppedAndCountedIfNothingCanBeMerged() throws {
        var dead = try Outbox.create(instance: "dead", in: temporary.url)
        try dead.store(Self.large, as: Self.file(1, .metrics, requests: 7, body: Self.large))
        try Self.age(Self.file(1, .metrics, requests: 7, body: Self.large), at: 1_000_000, in: dead.directory)
        try dead.store([1], as: Self.file(3, .metrics, requests: 1))
        dead.close()
        try open { own in
            try own.store(Self.large, as: Self.file(1, .metrics, requests: 5, body: Self.large))
            var room = BufferRoom(serviceDirectory: temporary.url, limit: total)
            let isThere = room.make(for: 1, own: &own)
            #expect(isThere)
            #expect(room.hasDropped)
            #expect(sequences(of: &own) == [1])
        }
        guard var adopted = Outbox.adopt(instance: "dead", in: temporary.url) else {
            Issue.record("not taken over")
            return
        }
        #expect(adopted.ledger(unsealed: 0) == .init(captured: 8, waiting: 1, dropped: [.bufferFull: 7]))
        #expect(sequences(of: &adopted) == [3])
    }

    @Test func batchThatMayHaveArrivedIsDroppedLast() throws {
        try open { own in
            try own.store(Self.large, as: Self.file(1, .metrics, requests: 5, body: Self.large))
            let sent = own.mark(Self.file(1, .metrics, requests: 5, body: Self.large), at: nil)
            try own.store(Self.large, as: Self.file(3, .metrics, requests: 6, body: Self.large))
            var room = BufferRoom(serviceDirectory: temporary.url, limit: total)
            let isThere = room.make(for: 1, own: &own)
            #expect(isThere)
            let files = own.batches()?.map(\.file)
            #expect(files == sent.map { [$0] })
            #expect(own.account.dropped == [.bufferFull: 6])
        }
    }

    @Test func batchLargerThanTheLimitDropsNothing() throws {
        try open { own in
            try own.store([1], as: Self.file(1, .metrics, requests: 5))
            var room = BufferRoom(serviceDirectory: temporary.url, limit: 25)
            let isThere = room.make(for: 26, own: &own)
            #expect(!isThere)
            #expect(sequences(of: &own) == [1])
        }
    }

    @Test func roomIsNotMadeForEveryBatch() throws {
        var sample = SampleBatch(seed: 8)
        try open { outbox in
            try fill(&outbox, &sample, count: 30)
            let limit = total
            var room = BufferRoom(serviceDirectory: temporary.url, limit: limit)
            #expect(room.isShort(at: limit * 9 / 10))
            _ = room.make(for: 1, own: &outbox)
            #expect(room.size <= limit * 3 / 4)
            #expect(!room.isShort(at: limit / 2))
        }
    }

    /// Ended processes left a batch each: the disk has hundreds of times more blocks for them than the batches have
    /// bytes.
    @Test func smallFilesAndDirectoriesFitTheLimitOnTheDisk() throws {
        let limit = 1 << 20
        for number in 1...150 { try leaveInstance("dead-\(number)") }
        #expect(try Self.blocks(in: temporary) > limit)
        try open { own in
            try own.store([1], as: Self.file(1, .metrics, requests: 1))
            var room = BufferRoom(serviceDirectory: temporary.url, limit: limit)
            let isThere = room.make(for: 1, own: &own)
            #expect(isThere)
            #expect(sequences(of: &own) == [1])
        }
        #expect(try Self.blocks(in: temporary) <= limit)
        #expect(ranges(of: "dead-150") == [[1, 1]])
    }

    // MARK: -

    /// Leaves the directory of an ended process with a batch of one byte, without waiting for the disk.
    private func leaveInstance(_ instance: String) throws {
        let directory = temporary.url.appendingPathComponent(instance)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        try Data().write(to: temporary.url.appendingPathComponent("\(instance).lock"))
        try Data("{}".utf8).write(to: directory.appendingPathComponent(Outbox.ownerFileName))
        let file = Self.file(1, .metrics, requests: 1)
        try Data([1]).write(to: directory.appendingPathComponent(file.name))
    }

    /// Returns the bytes of all blocks of a folder's files and folders.
    private static func blocks(in folder: TemporaryFolder) throws -> Int {
        try folder.contents().reduce(0) { sum, name in
            var status = stat()
            try #require(lstat(folder.path(name), &status) == 0)
            return sum + Int(status.st_blocks) * 512
        }
    }

    /// Returns the room that a file of one byte takes.
    static func block(in folder: TemporaryFolder) throws -> Int {
        let path = folder.path("one byte")
        try Data([1]).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        return DiskUse.bytes(at: path)
    }

    static let details = [UInt8](repeating: 7, count: 100)
    /// A body of more blocks than the account of a drop takes.
    static let large = [UInt8](repeating: 7, count: 20_000)

    private func open(_ body: (inout Outbox) throws -> Void) throws {
        var outbox = try Outbox.create(instance: "own", in: temporary.url)
        try body(&outbox)
    }

    /// Stores consecutive intervals of 10 s, and dates each batch 1 s before its interval's end.
    private func fill(_ outbox: inout Outbox, _ sample: inout SampleBatch, count: Int, from first: UInt64 = 1) throws {
        for offset in 0..<UInt64(count) {
            let batch = sample.next()
            let body = try Gzip.compress(batch.otlp())
            let file = BatchFile(
                sequence: first + offset, signal: .metrics, requests: batch.requests, isCompressed: true, body: body)
            try outbox.store(body, as: file)
            try Self.age(file, at: sample.time - 1, in: outbox.directory)
        }
    }

    /// The room of everything.
    private var total: Int {
        var room = BufferRoom(serviceDirectory: temporary.url, limit: .max)
        let batches = room.measure()
        return batches + room.overhead
    }

    private func ranges(of instance: String) -> [[UInt64]] {
        (StoredBatch.all(in: temporary.url.appendingPathComponent(instance)) ?? []).map {
            [$0.file.first, $0.file.sequence]
        }
    }

    private static func requests(of outbox: inout Outbox) throws -> UInt64 {
        try (outbox.batches() ?? []).reduce(0) { sum, batch in
            let plain = outbox.read(batch.file).flatMap { batch.file.plain($0) }
            return try OTLPExportMetricsServiceRequest(serializedBytes: try #require(plain)).resourceMetrics.flatMap(
                \.scopeMetrics
            )
            .flatMap(\.metrics).flatMap(\.exponentialHistogram.dataPoints).reduce(sum) { $0 + $1.count }
        }
    }

    static func age(_ file: BatchFile, at seconds: UInt64, in directory: URL) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(seconds))],
            ofItemAtPath: directory.appendingPathComponent(file.name).path)
    }

    private static func file(
        _ sequence: UInt64, _ signal: Signal, requests: UInt64 = 0, body: [UInt8] = [1]
    ) -> BatchFile {
        BatchFile(sequence: sequence, signal: signal, requests: requests, isCompressed: false, body: body)
    }
}
