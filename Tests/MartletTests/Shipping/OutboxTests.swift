import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct OutboxTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    @Test func batchesAreListedOldestFirst() throws {
        var outbox = try Outbox.create(instance: "a", in: temporary.url)
        for sequence in [10, 2, 1] as [UInt64] { try outbox.store(Self.body, as: Self.file(sequence)) }
        #expect(sequences(of: &outbox) == [1, 2, 10])
        let body = outbox.read(Self.file(2))
        #expect(body == Self.body)
        outbox.settle(Self.file(1), as: .delivered(rejected: 0))
        #expect(sequences(of: &outbox) == [2, 10])
    }

    @Test(arguments: [true, false])
    func filesNameDescribesItsContents(isCompressed: Bool) {
        for (sequence, first, part) in [
            (12, nil, ""), (.max, nil, ""), (12, 5, ""), (12, nil, "01"), (.max, .max - 99, "1111000011110000"),
        ] as [(UInt64, UInt64?, String)] {
            for signal in Signal.allCases {
                var file = BatchFile(
                    sequence: sequence, first: first, part: part, signal: signal, requests: .max,
                    isCompressed: isCompressed, body: Self.body)
                #expect(BatchFile(name: file.name) == file)
                file.mayHaveArrived = true
                #expect(BatchFile(name: file.name) == file)
                for store in [nil, "0123456789abcdef"] {
                    file.place = PossibleHolder(
                        address: MartletConfiguration.defaultCollector, store: store.flatMap { ShortDigest(store: $0) })
                    #expect(BatchFile(name: file.name) == file)
                    #expect(file.place.flatMap { PossibleHolder(word: $0.word) } == file.place)
                }
            }
        }
        let file = BatchFile(
            sequence: 12, signal: .metrics, requests: 345, isCompressed: true, body: Array("123456789".utf8))
        #expect(file.name == "00000000000000000012-metrics-345-cbf43926.otlp.gz")
    }

    @Test(arguments: [
        "", "x", "1-metrics.otlp", "1-metrics-2-00000000.otlp", "00000000000000000001-logs-2-00000000.otlp",
        "a-metrics-2-00000000.otlp", "00000000000000000001-metrics-2-00000000.otlp.gz.tmp",
        "00000000000000000001-metrics-2.otlp", "00000000000000000001-metrics-2-0000000.otlp",
        "00000000000000000001-metrics-02-00000000.otlp", "00000000000000000001.2-metrics-2-00000000.otlp",
        "00000000000000000002+00000000000000000001-metrics-2-00000000.otlp",
        "00000000000000000001.-metrics-2-00000000.otlp", "00000000000000000001-metrics-2-00000000.sent.sent.otlp",
        "00000000000000000001-metrics-2-00000000.sent.00000000.otlp",
        "00000000000000000001-metrics-2-00000000.sent.1A2B3C4D.otlp",
        "00000000000000000001-metrics-2-00000000.sent.1a2b3c4d.1a2b3c4d.1a2b3c4d.otlp",
        "00000000000000000001-metrics-2-00000000.1a2b3c4d.otlp",
        "00000000000000000001.00000000000000000-metrics-2-00000000.otlp",
        "00000000000000000001+00000000000009999999-metrics-2-00000000.otlp",
    ])
    func filesThatAreNotBatchesAreIgnored(name: String) throws {
        #expect(BatchFile(name: name) == nil)
    }

    @Test func batchesOfALivingInstanceAreNotTakenOver() throws {
        var outbox = try Outbox.create(instance: "a", in: temporary.url)
        try outbox.store(Self.body, as: Self.file(1))
        let adopted = Outbox.adopt(instance: "a", in: temporary.url) != nil
        #expect(!adopted)
        #expect(sequences(of: &outbox) == [1])
    }

    @Test func batchesOfADeadInstanceAreTakenOverAndItsDirectoryIsRemovedWithTheLast() throws {
        try Self.leaveBatch(in: temporary.url)
        guard var adopted = Outbox.adopt(instance: "dead", in: temporary.url) else {
            Issue.record("the lock of a dead instance was held")
            return
        }
        #expect(sequences(of: &adopted) == [1])
        adopted.settle(Self.file(1), as: .delivered(rejected: 0))
        adopted.close()
        #expect(temporary.contents() == [])
    }

    @Test func interruptedWriteLeavesNoBatch() throws {
        for name in ["\(Self.file(1).name).tmp", "account.tmp", "resource.tmp"] {
            try Self.leaveBatch(in: temporary.url)
            let leftover = temporary.url.appendingPathComponent("dead/\(name)")
            try Data([1]).write(to: leftover)
            guard var adopted = Outbox.adopt(instance: "dead", in: temporary.url) else {
                Issue.record("not taken over")
                return
            }
            #expect(sequences(of: &adopted) == [1])
            #expect(!FileManager.default.fileExists(atPath: leftover.path))
        }
    }

    @Test func otherFilesInTheDirectoryAreNotTouched() throws {
        try FileManager.default.createDirectory(
            at: temporary.url.appendingPathComponent("uploads"), withIntermediateDirectories: true)
        let isAdopted = Outbox.adopt(instance: "uploads", in: temporary.url) != nil
        #expect(!isAdopted)
        #expect(temporary.contents() == ["uploads"])

        try Self.leaveBatch(in: temporary.url)
        try Data([1]).write(to: temporary.url.appendingPathComponent("dead/photo.tmp"))
        guard var adopted = Outbox.adopt(instance: "dead", in: temporary.url) else {
            Issue.record("not taken over")
            return
        }
        adopted.settle(Self.file(1), as: .delivered(rejected: 0))
        adopted.close()
        #expect(
            temporary.contents() == ["dead", "dead.lock", "dead/account", "dead/photo.tmp", "dead/stored", "uploads"])
    }

    @Test func writeThatFailsAtItsLastStepLeavesNoFile() throws {
        #expect(throws: WholeFile.Failure.self) {
            try WholeFile.write([1], to: temporary.path("file"), in: temporary.path("missing"))
        }
        #expect(temporary.contents() == [])
    }

    @Test func onlyTheOwnerMayReadTheBuffer() throws {
        var outbox = try Outbox.create(instance: "a", in: temporary.url.appendingPathComponent("service"))
        try outbox.store(Self.body, as: Self.file(1))
        try outbox.store(Self.body, as: Self.file(2))
        outbox.settle(Self.file(2), as: .dropped(.corrupt))
        for (path, mode) in [
            ("service", 0o700), ("service/a", 0o700), ("service/a/\(Self.file(1).name)", 0o600),
            ("service/a/account", 0o600), ("service/a.lock", 0o600),
        ] {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: temporary.url.appendingPathComponent(path).path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
        }
    }

    @Test(arguments: [(0o777, false), (0o1777, false), (0o775, true), (0o700, true)])
    func worldWritableDirectoryIsNotUsed(mode: Int, isUsed: Bool) throws {
        let service = temporary.url.appendingPathComponent("service")
        try FileManager.default.createDirectory(at: service, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: service.path)
        if isUsed {
            try BufferDirectory.create(service)
        } else {
            #expect(throws: WholeFile.Failure.self) { try BufferDirectory.create(service) }
        }
    }

    @Test(arguments: ["../../etc", "a/b", "..", "", "ü\n", String(repeating: "x", count: 1000)])
    func serviceNameBecomesOnePathComponent(name: String) {
        let component = BufferDirectory.component(name)
        #expect(!component.isEmpty)
        #expect(component.utf8.count <= 200)
        #expect(!component.contains("/") && !component.contains("."))
    }

    // MARK: -

    static let body: [UInt8] = [1, 2, 3]

    /// Leaves the directory of a killed process: files, and a lock that no process holds.
    static func leaveBatch(in service: URL) throws {
        var outbox = try Outbox.create(instance: "dead", in: service)
        try outbox.store(body, as: file(1))
    }

    static func file(_ sequence: UInt64) -> BatchFile {
        BatchFile(sequence: sequence, signal: .metrics, requests: 1, isCompressed: true, body: body)
    }
}

func sequences(of outbox: inout Outbox) -> [UInt64]? { outbox.batches()?.map(\.file.sequence) }
