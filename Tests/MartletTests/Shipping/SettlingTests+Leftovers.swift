import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

/// The files that remain if a crash happens while batches are merged or a batch is divided.
extension SettlingTests {
    @Test func sourcesOfAMergedBatchAreRemoved() throws {
        let merged = BatchFile(sequence: 4, first: 2, signal: .metrics, requests: 30, isCompressed: false, body: [7])
        try open { outbox in
            for sequence in 1...4 as ClosedRange<UInt64> {
                try outbox.store([1], as: Self.file(sequence, requests: 10))
            }
        }
        try Data([7]).write(to: url(merged.name))
        try open { outbox in
            let files = outbox.batches()?.map(\.file)
            #expect(files == [Self.file(1, requests: 10), merged])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 40, waiting: 40))
        }
    }

    @Test func incompleteMergedBatchReplacesNothing() throws {
        let merged = BatchFile(sequence: 3, first: 2, signal: .metrics, requests: 20, isCompressed: false, body: [7])
        try open { outbox in
            for sequence in 2...3 as ClosedRange<UInt64> {
                try outbox.store([1], as: Self.file(sequence, requests: 10))
            }
        }
        try Data([8]).write(to: url(merged.name))
        try open { outbox in
            #expect(sequences(of: &outbox) == [2, 3])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 20, waiting: 20))
        }
    }

    @Test func mergedBatchIsNotSentInAdditionToItsSources() throws {
        let merged = BatchFile(sequence: 3, first: 2, signal: .metrics, requests: 20, isCompressed: false, body: [7])
        try open { outbox in
            try Self.makeUnremovable(url(Self.file(2, requests: 10).name))
            try outbox.store([1], as: Self.file(3, requests: 10))
            outbox.waiting = 20
            let batches = [Self.file(2, requests: 10), Self.file(3, requests: 10)].map {
                StoredBatch(file: $0, size: 1, modified: 1_000_000_000)
            }
            try outbox.merge(batches, into: EncodedBatch(file: merged, body: [7]))
            #expect(sequences(of: &outbox) == [])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 20, waiting: 20))
            try FileManager.default.removeItem(at: url(Self.file(2, requests: 10).name))
            #expect(sequences(of: &outbox) == [3])
        }
    }

    @Test func partsFoundNextToTheWholeBatchAreRemoved() throws {
        var whole = Self.file(3, requests: 20)
        whole.mayHaveArrived = true
        try open { outbox in
            try outbox.store([1], as: whole)
        }
        for part in [Self.part("0", requests: 8), Self.part("1", requests: 12)] {
            try Data([1]).write(to: url(part.name))
        }
        try open { outbox in
            let files = outbox.batches()?.map(\.file)
            #expect(files == [whole])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 20, waiting: 20))
        }
    }

    @Test func wholeBatchThatCannotBeRemovedIsNotSentAfterItsParts() throws {
        let whole = Self.file(3, requests: 20)
        try open { outbox in
            try Self.makeUnremovable(url(whole.name))
            let parts = [Self.part("0", requests: 8), Self.part("1", requests: 12)]
            try outbox.replace(whole, with: parts.map { EncodedBatch(file: $0, body: [1]) })
            let files = outbox.batches()?.map(\.file)
            #expect(files == parts)
        }
        try open { outbox in
            let parts = outbox.batches()?.map(\.file.part)
            #expect(parts == ["0", "1"])
        }
    }

    @Test func wholeBatchIsKeptIfItsPartsDoNotFit() throws {
        let whole = Self.file(3, requests: 20)
        try open { outbox in
            try outbox.store([1], as: whole)
            let obstacle = url("\(Self.part("1", requests: 12).name).tmp")
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
            let parts = [Self.part("0", requests: 8), Self.part("1", requests: 12)]
            do {
                try outbox.replace(whole, with: parts.map { EncodedBatch(file: $0, body: [1]) })
                Issue.record("it was stored")
            } catch {}
            let files = outbox.batches()?.map(\.file)
            #expect(files == [whole])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 20, waiting: 20))
        }
    }
}
