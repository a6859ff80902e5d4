import Fixtures
import Foundation
import MartletOTLP
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct JournalRecoveryTests {
    private let service = try? TemporaryFolder()
    private let dead = TelemetryResource(
        service: "checkout", version: "1.2", instance: "dead", host: "h1", processID: 7, attributes: ["team": "blue"])

    private let place = PossibleHolder(address: MartletConfiguration.defaultCollector, store: nil)

    /// Leaves an instance that recorded `requests` in its first interval and was killed, so its lock is free. Returns
    /// its directory.
    private func leaveInstance(requests: Int, sealed: Bool = false, mayHaveArrived: Bool = false) throws -> URL {
        let service = try #require(service).url
        var outbox = try Outbox.create(instance: dead.instance, in: service)
        try outbox.keep(OutboxOwner(dead, MartletConfiguration()))
        let recorder = Recorder(MartletConfiguration())
        let keeper = JournalKeeper(recorder.journal)
        keeper.move(to: outbox.directory)
        for _ in 0..<requests { recorder.record(RecorderTests.request("http://host/users/4711")) }
        if mayHaveArrived {
            #expect(recorder.closeSegments { keeper.close() })
            keeper.noteAttempt(place.word)
        }
        if sealed {
            let body: [UInt8] = [1, 2, 3]
            try outbox.store(
                body,
                as: BatchFile(
                    sequence: 1, signal: .metrics, requests: UInt64(requests), isCompressed: false, body: body))
        }
        return outbox.directory
    }

    /// Recovers the instance. Returns its batches, its ledger and its resource.
    private func recover() throws -> (batches: [BatchFile], ledger: Ledger, resource: TelemetryResource?) {
        let service = try #require(service).url
        guard var outbox = Outbox.adopt(instance: dead.instance, in: service) else { throw CocoaError(.fileLocking) }
        JournalRecovery(MartletConfiguration()).recover(&outbox)
        return ((outbox.batches() ?? []).map(\.file), outbox.ledger(unsealed: 0), try outbox.owner?.resource)
    }

    private func journals(in directory: URL) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0.hasSuffix(".journal") }
    }

    @Test func unsealedIntervalOfADeadInstanceBecomesItsBatch() throws {
        let directory = try leaveInstance(requests: 40)
        let recovered = try recover()
        #expect(recovered.batches.map(\.requests) == [40])
        #expect(recovered.batches.map(\.sequence) == [1])
        #expect(recovered.ledger == .init(captured: 40, waiting: 40))
        #expect(recovered.resource == dead)
        #expect(journals(in: directory).isEmpty)
        #expect(try recover().batches.map(\.requests) == [40])
    }

    @Test func segmentThatAlreadyHasABatchIsNotCountedAgain() throws {
        let directory = try leaveInstance(requests: 40, sealed: true)
        #expect(try recover().batches.map(\.requests) == [40])
        #expect(journals(in: directory).isEmpty)
    }

    @Test func unsealedIntervalIsRecoveredAlthoughALaterOneIsABatch() throws {
        let directory = try leaveInstance(requests: 40)
        let later = BatchFile(sequence: 2, signal: .metrics, requests: 3, isCompressed: false, body: [1])
        try Data([1]).write(to: directory.appendingPathComponent(later.name))
        let recovered = try recover()
        #expect(recovered.batches.map(\.sequence) == [1, 2])
        #expect(recovered.ledger == .init(captured: 43, waiting: 43))
        #expect(journals(in: directory).isEmpty)
    }

    /// A thread that slept through the end of an interval leaves its record in the bank of the next one, and the
    /// journal moves to another directory meanwhile.
    @Test func bankInUseIsSealedBeforeTheNextOneWithALateRecord() throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let recorder = Recorder(MartletConfiguration())
        let keeper = JournalKeeper(recorder.journal)
        keeper.move(to: first.url)
        recorder.record(RecorderTests.request("http://host/early"))
        recorder.journal.use(bank: 1)
        recorder.record(RecorderTests.request("http://host/late"))
        recorder.journal.use(bank: 0)
        keeper.move(to: second.url)
        recorder.journal.use(bank: 1)
        recorder.record(RecorderTests.request("http://host/late"))
        recorder.journal.use(bank: 0)
        #expect(recorder.journal.count(inBank: 1) == 2)
        for sequence in 1...2 as ClosedRange<UInt64> {
            #expect(recorder.closeSegments { keeper.close() })
            #expect(keeper.closedSequence == sequence)
            #expect(keeper.closedLanes()?.isEmpty == false)
            keeper.recycle()
        }
        #expect(!keeper.hasStraySegments)
    }

    @Test func intervalSentFromMemoryBecomesABatchThatIsNotChanged() throws {
        _ = try leaveInstance(requests: 40, mayHaveArrived: true)
        let recovered = try recover()
        #expect(recovered.batches.map(\.requests) == [40])
        #expect(recovered.batches.map(\.mayHaveArrived) == [true])
        #expect(recovered.batches.map(\.place) == [place])
    }

    /// The gap counts from the instance's start. A batch with a smaller one would take back time that an earlier batch
    /// reported.
    @Test func recoveredBatchReportsTheCaptureGap() throws {
        let service = try #require(service).url
        var outbox = try Outbox.create(instance: dead.instance, in: service)
        try outbox.keep(OutboxOwner(dead, MartletConfiguration()))
        let recorder = Recorder(MartletConfiguration())
        let keeper = JournalKeeper(recorder.journal)
        keeper.move(to: outbox.directory)
        keeper.noteCaptureGap(7_500_000_000)
        #expect(recorder.closeSegments { keeper.close() })
        keeper.recycle()
        recorder.record(RecorderTests.request("http://host/users/4711"))
        outbox.close()

        let batch = try #require(try recover().batches.first)
        let path = service.appendingPathComponent(dead.instance).appendingPathComponent(batch.name)
        let body = try #require(batch.plain([UInt8](Data(contentsOf: path))))
        let metrics = try OTLPExportMetricsServiceRequest(serializedBytes: body).resourceMetrics.flatMap(\.scopeMetrics)
            .flatMap(\.metrics)
        let captureGap = try #require(metrics.first { $0.name == MetricName.captureGap })
        #expect(captureGap.sum.dataPoints.map(\.asDouble) == [7.5])
    }

    @Test func unreadableSegmentGoesToQuarantine() throws {
        let directory = try leaveInstance(requests: 40)
        let path = directory.appendingPathComponent("0.journal").path
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.write(contentsOf: Data([1, 2, 3]))
        try file.close()
        #expect(try recover().batches.isEmpty)
        #expect(journals(in: directory).isEmpty)
        #expect(
            FileManager.default.fileExists(atPath: directory.appendingPathComponent("quarantine/0.journal").path))
    }

    @Test func segmentOfEveryLengthIsRecovered() throws {
        let directory = try leaveInstance(requests: 5)
        let path = directory.appendingPathComponent("0.journal").path
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        for length in stride(from: 0, to: JournalFormat.headerBytes + 1024, by: 37) {
            try Data(bytes[..<length]).write(to: URL(fileURLWithPath: path))
            for batch in try recover().batches {
                #expect(batch.requests <= 5)
                unlink(directory.appendingPathComponent(batch.name).path)
            }
            #expect(journals(in: directory).isEmpty)
        }
    }
}
