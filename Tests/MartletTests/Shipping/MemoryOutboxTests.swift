import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct MemoryOutboxTests {
    private static let body = [UInt8](repeating: 7, count: 100)

    private static func file(_ sequence: UInt64, _ signal: Signal = .metrics) -> BatchFile {
        BatchFile(
            sequence: sequence, signal: signal, requests: signal == .metrics ? 10 : 0, isCompressed: false, body: body)
    }

    private static func outbox(room batches: Int) -> MemoryOutbox {
        MemoryOutbox(
            instance: "a", limit: batches * body.count, keeper: JournalKeeper(Journal(capacity: MartletLimits.segment)))
    }

    private static func store(_ files: [BatchFile], in outbox: inout MemoryOutbox) {
        for file in files {
            let isStored = outbox.store(body, as: file)
            #expect(isStored)
        }
    }

    private static func sequences(_ outbox: MemoryOutbox) -> [UInt64] {
        (outbox.batches() ?? []).map(\.file.sequence)
    }

    @Test func detailsAreDroppedFirstThenTheOldestBatchesAndAllAreCounted() {
        var outbox = Self.outbox(room: 3)
        Self.store([Self.file(1), Self.file(2)], in: &outbox)
        Self.store([Self.file(2, .traces)], in: &outbox)
        Self.store([Self.file(3)], in: &outbox)
        #expect(outbox.batches()?.map(\.file.signal) == [.metrics, .metrics, .metrics])
        #expect(outbox.account.total == 0)
        Self.store([Self.file(4)], in: &outbox)
        #expect(Self.sequences(outbox) == [2, 3, 4])
        #expect(outbox.account.dropped == [.bufferFull: 10])
        #expect(outbox.account.lastSettledSequence == 1)
        #expect(outbox.bytes == 300)
    }

    @Test func detailsDoNotDisplaceRequests() {
        var outbox = Self.outbox(room: 2)
        Self.store([Self.file(1), Self.file(2)], in: &outbox)
        let isStored = outbox.store(Self.body, as: Self.file(2, .traces))
        #expect(!isStored)
        #expect(Self.sequences(outbox) == [1, 2])
    }

    @Test func batchThatMayHaveArrivedIsDroppedLastFromMemory() {
        var outbox = Self.outbox(room: 2)
        Self.store([Self.file(1), Self.file(2)], in: &outbox)
        let sent = outbox.mark(Self.file(1), at: nil)
        #expect(sent?.mayHaveArrived == true)
        Self.store([Self.file(3)], in: &outbox)
        #expect(Self.sequences(outbox) == [1, 3])
    }

    @Test func batchThatCanNeverFitDisplacesNothing() {
        var outbox = Self.outbox(room: 1)
        Self.store([Self.file(1)], in: &outbox)
        let isStored = outbox.store(Self.body + [7], as: Self.file(2))
        #expect(!isStored)
        #expect(Self.sequences(outbox) == [1])
    }

    @Test func batchStoredLaterKeepsItsNameItsMarkAndItsAge() throws {
        let folder = try TemporaryFolder()
        var memory = Self.outbox(room: 3)
        Self.store([Self.file(1)], in: &memory)
        Self.store([Self.file(2)], in: &memory)
        let marked = memory.mark(Self.file(1), at: nil)
        let sent = try #require(marked)
        let age = try #require(memory.batches()?.first?.modified)
        var outbox = try Outbox.create(instance: "a", in: folder.url)
        try memory.move(to: &outbox)
        let stored = outbox.batches() ?? []
        #expect(stored.map(\.file) == [sent, Self.file(2)])
        #expect(stored[0].modified / 1_000_000_000 == age / 1_000_000_000)
        #expect(memory.isEmpty)
        #expect(memory.bytes == 0)
    }

    @Test func journalFilesKeepAnIntervalUntilItsBatchIsSettled() throws {
        let journal = try JournalFixture()
        journal.recorder.record(RecorderTests.request("http://host/users/1"))
        #expect(journal.close())
        var outbox = MemoryOutbox(instance: "a", limit: 1000, keeper: journal.keeper)
        #expect(journal.keeper.isClosedOnDisk)
        Self.store([Self.file(1)], in: &outbox)
        outbox.hold(1)
        #expect(outbox.losable == 0)
        let written = try journal.segmentFiles()
        let before = written.filter { recordsRead($0.bytes).statistics.isEmpty == false }
        #expect(before.count == 1)
        #expect(before.allSatisfy { $0.bytes.withUnsafeBytes { JournalHeader.attempt($0) == 0 } })
        let outcome = outbox.mark(Self.file(1), at: nil)
        let sent = try #require(outcome)
        let marked = try journal.segmentFiles().filter { $0.name == before.first?.name }
        #expect(marked.allSatisfy { $0.bytes.withUnsafeBytes { JournalHeader.attempt($0) != 0 } })
        outbox.settle(sent, as: .delivered(rejected: 0))
        #expect(outbox.held == nil)
        #expect(journal.keeper.closedSequence == nil)
        #expect(try journal.segmentFiles().allSatisfy { recordsRead($0.bytes).statistics.isEmpty })
        #expect(
            try journal.segmentFiles().allSatisfy { $0.bytes.withUnsafeBytes { JournalHeader.attempt($0) == 0 } })
    }

    @Test func partsOfADividedBatchAreOnlyInMemory() throws {
        let journal = try JournalFixture()
        journal.recorder.record(RecorderTests.request("http://host/users/1"))
        #expect(journal.close())
        var outbox = MemoryOutbox(instance: "a", limit: 1000, keeper: journal.keeper)
        Self.store([Self.file(1)], in: &outbox)
        Self.store([Self.file(1, .traces)], in: &outbox)
        outbox.hold(1)
        let parts = ["0", "1"].map { part in
            let file = BatchFile(
                sequence: 1, part: part, signal: .metrics, requests: 5, isCompressed: false, body: Self.body)
            return EncodedBatch(file: file, body: Self.body)
        }
        outbox.replace(Self.file(1), with: parts)
        #expect(outbox.batches()?.map(\.file) == parts.map(\.file) + [Self.file(1, .traces)])
        #expect(outbox.held == nil)
        #expect(outbox.losable == 10)
        #expect(try journal.segmentFiles().allSatisfy { recordsRead($0.bytes).statistics.isEmpty })
    }
}
