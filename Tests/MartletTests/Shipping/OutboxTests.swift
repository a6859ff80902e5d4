import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct OutboxTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    @Test func batchesComeBackOldestFirst() throws {
        let outbox = try Outbox.create(instance: "a", in: temporary.url)
        for sequence in [10, 2, 1] as [UInt64] { try outbox.store([1, 2, 3], as: Self.file(sequence)) }
        #expect(outbox.batches()?.map(\.sequence) == [1, 2, 10])
        #expect(outbox.read(Self.file(2)) == Data([1, 2, 3]))
        outbox.remove(Self.file(1))
        #expect(outbox.batches()?.map(\.sequence) == [2, 10])
    }

    @Test(arguments: [true, false])
    func aFilesNameSaysWhatItHolds(isCompressed: Bool) {
        let file = BatchFile(sequence: 12, signal: .traces, requests: 345, isCompressed: isCompressed)
        #expect(BatchFile(name: file.name) == file)
        let largest = BatchFile(sequence: .max, signal: .metrics, requests: .max, isCompressed: isCompressed)
        #expect(BatchFile(name: largest.name) == largest)
    }

    @Test(arguments: [
        "", "x", "1-metrics.otlp", "1-metrics-2.otlp", "1-logs-2.otlp", "a-metrics-2.otlp", "1-metrics-2.otlp.gz.tmp",
    ])
    func whatIsNoBatchIsLeftAlone(name: String) throws {
        #expect(BatchFile(name: name) == nil)
    }

    @Test func aLivingInstancesBatchesAreNotTakenOver() throws {
        let outbox = try Outbox.create(instance: "a", in: temporary.url)
        try outbox.store([1], as: Self.file(1))
        let adopted = Outbox.adopt(instance: "a", in: temporary.url) != nil
        #expect(!adopted)
        #expect(outbox.batches()?.count == 1)
    }

    @Test func aDeadInstancesBatchesAreTakenOverAndItsDirectoryGoesWithTheLastOfThem() throws {
        try Self.leaveBatch(in: temporary.url)
        guard let adopted = Outbox.adopt(instance: "dead", in: temporary.url) else {
            Issue.record("the lock of a dead instance was held")
            return
        }
        #expect(adopted.batches()?.map(\.sequence) == [1])
        adopted.remove(Self.file(1))
        adopted.close()
        #expect(temporary.contents() == [])
    }

    @Test func whatAnInterruptedWriteLeftIsNoBatch() throws {
        let outbox = try Outbox.create(instance: "a", in: temporary.url)
        let leftover = temporary.url.appendingPathComponent("a/\(Self.file(1).name).tmp")
        try Data([1]).write(to: leftover)
        #expect(outbox.batches() == [])
        outbox.removeTemporaryFiles()
        #expect(!FileManager.default.fileExists(atPath: leftover.path))
    }

    @Test func whatSomebodyElseKeepsInTheSamePlaceIsLeftAlone() throws {
        try FileManager.default.createDirectory(
            at: temporary.url.appendingPathComponent("uploads"), withIntermediateDirectories: true)
        let isAdopted = Outbox.adopt(instance: "uploads", in: temporary.url) != nil
        #expect(!isAdopted)
        #expect(temporary.contents() == ["uploads"])

        let outbox = try Outbox.create(instance: "a", in: temporary.url)
        let photo = temporary.url.appendingPathComponent("a/photo.tmp")
        try Data([1]).write(to: photo)
        outbox.removeTemporaryFiles()
        #expect(FileManager.default.fileExists(atPath: photo.path))
    }

    @Test func aWriteThatFailedAtItsLastStepLeavesNothing() throws {
        #expect(throws: WholeFile.Failure.self) {
            try WholeFile.write([1], to: temporary.path("file"), in: temporary.path("missing"))
        }
        #expect(temporary.contents() == [])
    }

    @Test func onlyTheOwnerMayReadIt() throws {
        let outbox = try Outbox.create(instance: "a", in: temporary.url.appendingPathComponent("service"))
        try outbox.store([1], as: Self.file(1))
        for (path, mode) in [("service", 0o700), ("service/a", 0o700), ("service/a/\(Self.file(1).name)", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: temporary.url.appendingPathComponent(path).path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
        }
    }

    @Test(arguments: [(0o777, false), (0o1777, false), (0o775, true), (0o700, true)])
    func aDirectoryThatEverybodyMayWriteIsNotUsed(mode: Int, isUsed: Bool) throws {
        let service = temporary.url.appendingPathComponent("service")
        try FileManager.default.createDirectory(at: service, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: service.path)
        if isUsed {
            try BufferDirectory.create(service)
        } else {
            #expect(throws: WholeFile.Failure.self) { try BufferDirectory.create(service) }
        }
    }

    @Test func atTheCapTheOldestOfAllInstancesMakesRoom() throws {
        try Self.leaveBatch(in: temporary.url)
        let outbox = try Outbox.create(instance: "living", in: temporary.url)
        try outbox.store([UInt8](repeating: 0, count: 10), as: Self.file(1))
        let cap = BufferCap(service: temporary.url, limit: 25)
        #expect(cap.size == 20)
        #expect(cap.makeRoom(for: 5)?.isEmpty == true)
        #expect(cap.makeRoom(for: 10)?.map(\.instance) == ["dead"])
        #expect(cap.size == 10)
    }

    @Test func aBatchLargerThanTheCapEvictsNothing() throws {
        try Self.leaveBatch(in: temporary.url)
        let cap = BufferCap(service: temporary.url, limit: 25)
        #expect(cap.makeRoom(for: 26) == nil)
        #expect(cap.size == 10)
    }

    @Test(arguments: ["../../etc", "a/b", "..", "", "ü\n", String(repeating: "x", count: 1000)])
    func aServicesNameIsOnePathComponent(name: String) {
        let component = BufferDirectory.component(name)
        #expect(!component.isEmpty)
        #expect(component.utf8.count <= 200)
        #expect(!component.contains("/") && !component.contains("."))
    }

    /// As a process leaves it that was killed: files, and a lock that nobody holds.
    static func leaveBatch(in service: URL) throws {
        let outbox = try Outbox.create(instance: "dead", in: service)
        try outbox.store([UInt8](repeating: 0, count: 10), as: file(1))
    }

    static func file(_ sequence: UInt64) -> BatchFile {
        BatchFile(sequence: sequence, signal: .metrics, requests: 1, isCompressed: true)
    }
}
