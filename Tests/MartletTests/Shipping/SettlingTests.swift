import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

/// The order in which account and files change, and recovery after a crash.
@Suite struct SettlingTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    @Test func nextProcessContinuesTheLedger() throws {
        try open { outbox in
            for sequence in 1...4 as ClosedRange<UInt64> {
                try outbox.store([1], as: Self.file(sequence, requests: 10))
            }
            outbox.settle(Self.file(1, requests: 10), as: .delivered(rejected: 3))
            outbox.settle(Self.file(2, requests: 10), as: .dropped(.tooLarge))
            outbox.drop(5, .bufferFull, sequence: 1)
        }
        try open { outbox in
            #expect(
                outbox.ledger(unsealed: 0)
                    == .init(
                        captured: 45, delivered: 7, waiting: 20, dropped: [.rejected: 3, .tooLarge: 10, .bufferFull: 5])
            )
            #expect(outbox.lastSequence == 4)
            outbox.settle(Self.file(3, requests: 10), as: .delivered(rejected: 0))
            outbox.settle(Self.file(4, requests: 10), as: .delivered(rejected: 0))
            #expect(outbox.lastSequence == 4)
        }
        try open { outbox in
            #expect(outbox.ledger(unsealed: 2).delivered == 27)
            #expect(outbox.ledger(unsealed: 2).captured == 47)
        }
    }

    @Test(arguments: [ShippingMilestone.settled, .removed])
    func settledBatchIsNotCountedAgain(diedAt milestone: ShippingMilestone) throws {
        try open { outbox in
            try outbox.store([1], as: Self.file(1, requests: 10))
            outbox.settle(Self.file(1, requests: 10), as: .delivered(rejected: 0))
        }
        // Between the two milestones the account includes the batch, and the file still exists.
        if milestone == .settled { try Data([1]).write(to: url(Self.file(1, requests: 10).name)) }
        try open { outbox in
            #expect(sequences(of: &outbox) == [])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 10, delivered: 10))
        }
    }

    @Test func settledFileThatCannotBeRemovedIsNeitherCountedNorSentAgain() throws {
        let stuck = Self.file(1, requests: 10)
        try open { outbox in
            try Self.makeUnremovable(url(stuck.name))
            try outbox.store([1], as: Self.file(2, requests: 5))
            outbox.settle(stuck, as: .delivered(rejected: 0))
            outbox.settle(Self.file(2, requests: 5), as: .delivered(rejected: 0))
            #expect(sequences(of: &outbox) == [])
        }
        #expect(FileManager.default.fileExists(atPath: url(stuck.name).path))
        try open { outbox in
            #expect(sequences(of: &outbox) == [])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 15, delivered: 15))
        }
    }

    /// The directory that the agent moved to has no such file.
    @Test func settledFileStaysSettledAfterAMoveToAnotherDirectory() throws {
        let stuck = Self.file(1, requests: 10)
        try open { outbox in
            try Self.makeUnremovable(url(stuck.name))
            outbox.settle(stuck, as: .delivered(rejected: 0))
            var elsewhere = outbox.account
            elsewhere.settled = []
            elsewhere.deliver(7)
            outbox.adopt(account: elsewhere)
            #expect(sequences(of: &outbox) == [])
            #expect(outbox.account.delivered == 17)
        }
    }

    @Test func fileIsKeptUntilTheAccountCanBeWritten() throws {
        let obstacle = url("account.tmp")
        try open { outbox in
            try outbox.store([1], as: Self.file(1, requests: 10))
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
            outbox.settle(Self.file(1, requests: 10), as: .delivered(rejected: 0))
            #expect(outbox.account.delivered == 10)
            #expect(sequences(of: &outbox) == [])
            #expect(FileManager.default.fileExists(atPath: url(Self.file(1, requests: 10).name).path))
            try FileManager.default.removeItem(at: obstacle)
            #expect(sequences(of: &outbox) == [])
            #expect(!FileManager.default.fileExists(atPath: url(Self.file(1, requests: 10).name).path))
        }
        try open { outbox in #expect(outbox.ledger(unsealed: 0) == .init(captured: 10, delivered: 10)) }
    }

    @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
    func deliveryMakesRoomOnAFullDisk() throws {
        let disk = try SmallDisk(bytes: 64 << 10)
        var outbox = try Outbox.create(instance: "a", in: disk.url.appendingPathComponent("shop"))
        let body = [UInt8](repeating: 7, count: 5000)
        var stored: [BatchFile] = []
        while let file = try? store(body, UInt64(stored.count + 1), in: &outbox) { stored.append(file) }
        #expect(stored.count > 3)
        try disk.fill()
        for file in stored {
            let sent = outbox.mark(file, at: nil)
            outbox.settle(try #require(sent), as: .delivered(rejected: 0))
        }
        #expect(sequences(of: &outbox) == [])
        #expect(outbox.saving == .saved)
        let account = try String(contentsOf: outbox.directory.appendingPathComponent("account"), encoding: .utf8)
        #expect(OutboxAccount(text: account)?.delivered == UInt64(stored.count))
        outbox.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.appendingPathComponent("shop").path) == [])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
    func nothingIsStoredOrMarkedOnADiskThatBecomesReadOnly() throws {
        let disk = try SmallDisk(bytes: 64 << 10)
        let service = disk.url.appendingPathComponent("shop")
        var outbox = try Outbox.create(instance: "a", in: service)
        let file = try store([1], 1, in: &outbox)
        try disk.turnReadOnly()
        #expect(outbox.mark(file, at: nil) == nil)
        let isStored = (try? store([1], 2, in: &outbox)) != nil
        #expect(!isStored)
        let isMade = (try? Outbox.create(instance: "b", in: service)) != nil
        #expect(!isMade)
    }

    @Test func damagedFileGoesToQuarantineAndIsCounted() throws {
        try open { outbox in
            try outbox.store([1], as: Self.file(1, requests: 10))
            try outbox.store([1], as: Self.file(2, requests: 5))
            try Data([2]).write(to: url(Self.file(1, requests: 10).name))
            let body = outbox.read(Self.file(1, requests: 10))
            #expect(body == nil)
            #expect(sequences(of: &outbox) == [2])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 15, waiting: 5, dropped: [.corrupt: 10]))
        }
        #expect(temporary.contents().contains("a/quarantine/\(Self.file(1, requests: 10).name)"))
    }

    @Test func quarantineKeepsTheNewestFew() throws {
        let count = MartletLimits.quarantinedFiles + 3
        try open { outbox in
            for sequence in 1...UInt64(count) {
                try outbox.store([1], as: Self.file(sequence, requests: 1))
                try Data([2]).write(to: url(Self.file(sequence, requests: 1).name))
                let body = outbox.read(Self.file(sequence, requests: 1))
                #expect(body == nil)
            }
            #expect(outbox.account.dropped == [.corrupt: UInt64(count)])
        }
        let kept = temporary.contents().filter { $0.hasPrefix("a/quarantine/") }
        #expect(kept.count == MartletLimits.quarantinedFiles)
    }

    @Test func damagedAccountGoesToQuarantineAndDeliveryContinues() throws {
        try open { outbox in
            try outbox.store([1], as: Self.file(1, requests: 10))
            try outbox.store([1], as: Self.file(2, requests: 5))
            outbox.settle(Self.file(1, requests: 10), as: .delivered(rejected: 0))
        }
        try Data("nonsense".utf8).write(to: url("account"))
        try open { outbox in
            #expect(sequences(of: &outbox) == [2])
            #expect(outbox.ledger(unsealed: 0) == .init(captured: 5, waiting: 5))
            #expect(outbox.lastSequence == 2)
            outbox.settle(Self.file(2, requests: 5), as: .delivered(rejected: 0))
        }
        try open { outbox in #expect(outbox.ledger(unsealed: 0) == .init(captured: 5, delivered: 5)) }
        #expect(temporary.contents().contains("a/quarantine/account"))
    }

    @Test func fileRemovedByAnotherProcessCountsAsGoneUntilItReappears() throws {
        try open { outbox in
            try outbox.store([1], as: Self.file(1, requests: 10))
            try FileManager.default.removeItem(at: url(Self.file(1, requests: 10).name))
            #expect(sequences(of: &outbox) == [])
            #expect(outbox.account.dropped == [.gone: 10])
            try Data([1]).write(to: url(Self.file(1, requests: 10).name))
            #expect(sequences(of: &outbox) == [1])
            #expect(outbox.account.dropped == [:])
        }
    }

    // MARK: Directories and locks

    @Test func directoryOfAnInstanceWithNothingToSendIsRemoved() throws {
        try open { outbox in
            try outbox.store([1], as: Self.file(1, requests: 1))
            outbox.settle(Self.file(1, requests: 1), as: .delivered(rejected: 0))
        }
        try Data([1]).write(to: url("resource"))
        Outbox.adopt(instance: "a", in: temporary.url)?.close()
        #expect(temporary.contents() == [])
    }

    @Test func journalOfADeadInstanceKeepsItsDirectory() throws {
        try open { _ in }
        try Data([1]).write(to: url("00000000000000000001.0.journal"))
        Outbox.adopt(instance: "a", in: temporary.url)?.close()
        #expect(temporary.contents().contains("a/00000000000000000001.0.journal"))
        #expect(temporary.contents().contains("a.lock"))
    }

    @Test func oldLockWithoutADirectoryIsRemoved() throws {
        let instance = UUID().uuidString.lowercased()
        for name in ["\(instance).lock", "somebody-elses.lock"] {
            try Data().write(to: temporary.url.appendingPathComponent(name))
        }
        let isYoungTaken = Outbox.adopt(instance: instance, in: temporary.url) != nil
        #expect(!isYoungTaken)
        for name in ["\(instance).lock", "somebody-elses.lock"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3600)],
                ofItemAtPath: temporary.url.appendingPathComponent(name).path)
        }
        for instance in BufferDirectory.instances(in: temporary.url) {
            Outbox.adopt(instance: instance, in: temporary.url)?.close()
        }
        #expect(temporary.contents() == ["somebody-elses.lock"])
    }

    // MARK: -

    func open(_ body: (inout Outbox) throws -> Void) throws {
        var outbox = try Outbox.create(instance: "a", in: temporary.url)
        try body(&outbox)
    }

    func store(_ body: [UInt8], _ sequence: UInt64, in outbox: inout Outbox) throws -> BatchFile {
        let file = BatchFile(sequence: sequence, signal: .metrics, requests: 1, isCompressed: false, body: body)
        try outbox.store(body, as: file)
        return file
    }

    func url(_ name: String) -> URL { temporary.url.appendingPathComponent("a/\(name)") }

    /// Makes a directory with a file in it at the batch's path, which even root cannot unlink.
    static func makeUnremovable(_ url: URL) throws {
        try FileManager.default.createDirectory(
            at: url.appendingPathComponent("in the way"), withIntermediateDirectories: true)
    }

    static func file(_ sequence: UInt64, requests: UInt64) -> BatchFile {
        BatchFile(sequence: sequence, signal: .metrics, requests: requests, isCompressed: false, body: [1])
    }

    static func part(_ part: String, requests: UInt64) -> BatchFile {
        BatchFile(
            sequence: 3, part: part, signal: .metrics, requests: requests, isCompressed: false, body: [1])
    }
}
