import CMartletHooks
import Fixtures
import Foundation
import FoundationNetworking
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import Martlet

/// The process that takes over a dead one's directory reports its end.
@Suite(.serialized) struct EndRecoveryTests {
    private let service = try? TemporaryFolder()
    private let dead = TelemetryResource(
        service: "checkout", version: "1.2", instance: "dead", host: "h1", processID: 7)

    private func leaveInstance(_ record: [UInt8], batches: UInt64 = 0) throws {
        let service = try #require(service).url
        var outbox = try Outbox.create(instance: dead.instance, in: service)
        try outbox.keep(OutboxOwner(dead, MartletConfiguration()))
        for sequence in 0..<batches {
            let body: [UInt8] = [1, 2, 3]
            let file = BatchFile(
                sequence: sequence + 1, signal: .metrics, requests: 1, isCompressed: false, body: body)
            try outbox.store(body, as: file)
        }
        try Data(record).write(to: outbox.directory.appendingPathComponent(ProcessRecord.fileName))
    }

    /// Recovers the instance. Returns its batches, and the points of its ends.
    private func recover(
        _ change: (inout MartletConfiguration) -> Void = { _ in }
    ) throws -> (sequences: [UInt64], ends: [[String: OTLPAnyValue]], resource: [String: String]) {
        var configuration = MartletConfiguration()
        configuration.compression = .none
        change(&configuration)
        guard var outbox = Outbox.adopt(instance: dead.instance, in: try #require(service).url) else {
            throw CocoaError(.fileLocking)
        }
        JournalRecovery(configuration).recover(&outbox)
        #expect(Outbox.isMissing(outbox.path(ProcessRecord.fileName)))
        let files = (outbox.batches() ?? []).map(\.file)
        var parts: [OTLPResourceMetrics] = []
        for file in files {
            let body = outbox.read(file) ?? []
            parts += (try? OTLPExportMetricsServiceRequest(serializedBytes: body))?.resourceMetrics ?? []
        }
        let points = parts.flatMap(\.scopeMetrics).flatMap(\.metrics).filter { $0.name == "martlet.process.end" }
            .flatMap(\.sum.dataPoints)
        return (
            files.map(\.sequence), points.map { $0.attributes.reduce(into: [:]) { $0[$1.key] = $1.value } },
            parts.flatMap(\.resource.attributes).reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
        )
    }

    @Test func endIsTheBatchAfterTheLastOneUnderTheDeadInstance() throws {
        try leaveInstance(ProcessRecordTests.record(), batches: 2)
        let recovered = try recover()
        #expect(recovered.sequences == [1, 2, 3])
        let end = try #require(recovered.ends.first)
        #expect(recovered.ends.count == 1)
        #expect(end["martlet.ended.instance"]?.stringValue == "dead")
        #expect(recovered.resource["service.instance.id"] == "dead" && recovered.resource["service.version"] == "1.2")
        #expect(try recover().sequences == [1, 2, 3])
    }

    @Test func crashOutsideOfTheProgramHasItsSignalAndWhatWasInFlight() throws {
        let bytes = try ProcessRecordTests.record { _ in
            _ = RequestSlot(.server, start: Clock.wall(), name: "GET /files/{name}", isRoute: true)
        }
        try leaveInstance(
            ProcessRecordTests.changed(bytes) { _, crash in
                (crash.signal, crash.time, crash.frame_count) = (SIGILL, 100_000_000_000, 1)
                (crash.pc, crash.frames.0) = (7, 7)
            })
        let end = try #require(try recover().ends.first)
        #expect(end["martlet.reason"]?.stringValue == "signal")
        #expect(end["martlet.ended.signal"]?.stringValue == "SIGILL")
        #expect(end["martlet.ended.time"]?.intValue == 100_000_000_000)
        #expect(end["martlet.ended.frames"] == nil && end["martlet.ended.build"] == nil)
        #expect(end["martlet.ended.requests"]?.arrayValue.values.map(\.stringValue) == ["1 server GET /files/{name}"])
        #expect(end["martlet.ended.in_flight"]?.intValue == 1)
    }

    @Test func crashOfAnotherBuildHasAddressesAndTheBuild() throws {
        let bytes = try ProcessRecordTests.record()
        try leaveInstance(
            ProcessRecordTests.changed(bytes) { head, crash in
                (head.build.0, head.build_length) = (0xab, 1)
                (crash.signal, crash.time, crash.frame_count) = (SIGSEGV, 100_000_000_000, 3)
                // The first address is in a library.
                for (index, address) in [7, head.image_base + 0x10, head.image_base + 0x1f3].enumerated() {
                    withUnsafeMutableBytes(of: &crash.frames) {
                        $0.storeBytes(of: address, toByteOffset: index * 8, as: UInt64.self)
                    }
                }
            })
        let end = try #require(try recover().ends.first)
        let program = ProcessInfo.processInfo.processName
        let frames = end["martlet.ended.frames"]?.arrayValue.values.map(\.stringValue)
        #expect(frames == ["\(program)+0x10", "\(program)+0x1f3"])
        #expect(end["martlet.ended.build"]?.stringValue == "ab")
        #expect(end["code.function.name"] == nil && end["code.file.path"] == nil)
    }

    /// A program that ends while it reads its debug information must not do so at each start.
    @Test func placesAreAddressesAfterThreeSearchesThatDidNotEnd() throws {
        let bytes = try ProcessRecordTests.record()
        try leaveInstance(
            ProcessRecordTests.changed(bytes) { head, crash in
                (crash.signal, crash.time, crash.frame_count) = (SIGSEGV, 100_000_000_000, 1)
                (crash.pc, crash.frames.0) = (head.image_base + 0x10, head.image_base + 0x10)
                head.looked = 3
            })
        let end = try #require(try recover().ends.first)
        let frames = end["martlet.ended.frames"]?.arrayValue.values.map(\.stringValue)
        #expect(frames == ["\(ProcessInfo.processInfo.processName)+0x10"])
        #expect(end["martlet.ended.build"]?.stringValue.isEmpty == false)
    }

    /// The process that reports the end may be killed before it removes the record.
    @Test func endThatIsInABatchIsNotReportedAgain() throws {
        let bytes = try ProcessRecordTests.record { $0.noteReport(in: 2) }
        try leaveInstance(bytes, batches: 2)
        let recovered = try recover()
        #expect(recovered.sequences == [1, 2] && recovered.ends.isEmpty)
    }

    @Test func endWhoseBatchWasNotStoredIsReported() throws {
        let bytes = try ProcessRecordTests.record { $0.noteReport(in: 2) }
        try leaveInstance(bytes, batches: 1)
        let recovered = try recover()
        #expect(recovered.sequences == [1, 2] && recovered.ends.count == 1)
    }

    @Test func recordThatCannotBeReadIsAnUnknownEnd() throws {
        try leaveInstance([1, 2, 3])
        #expect(try recover().ends.map { $0["martlet.reason"]?.stringValue } == ["unknown"])
    }

    @Test func recordIsRemovedUnreadIfTheServiceDoesNotWantIt() throws {
        try leaveInstance(ProcessRecordTests.record())
        let recovered = try recover { $0.watchCrashes = false }
        #expect(recovered.sequences.isEmpty && recovered.ends.isEmpty)
    }
}

extension AgentTests {
    /// A process that shuts its agent down reports its own end.
    @Suite struct CleanEndTests {
        private static func ends(_ collector: StubCollector) throws -> [String] {
            try ends(in: collector.accepted.values.filter { $0.path == "/v1/metrics" })
        }

        private static func ends(in posts: some Sequence<StubCollector.Post>) throws -> [String] {
            try posts.flatMap { post in
                try OTLPExportMetricsServiceRequest(serializedBytes: post.plainBody).resourceMetrics
                    .flatMap(\.scopeMetrics).flatMap(\.metrics).filter { $0.name == "martlet.process.end" }
                    .flatMap(\.sum.dataPoints).flatMap(\.attributes)
                    .filter { $0.key == "martlet.reason" }.map(\.value.stringValue)
            }
        }

        @Test(arguments: [true, false]) func shutdownReportsACleanEndOnce(isFlushed: Bool) async throws {
            try await withAgent { agent, collector, base in
                try await wait(for: "a record") { Self.records(agent).count == 1 }
                _ = try await URLSession.shared.data(from: base / "hello/ada")
                if isFlushed { await agent.flush() }
                #expect(try Self.ends(collector).isEmpty)
                await agent.shutdown()
                #expect(try Self.ends(collector) == ["clean"])
                #expect(Self.records(agent).isEmpty)
            }
        }

        /// The agent's first batch may have been sent before the shutdown. Only then does the collector know the process.
        @Test func processThatTheCollectorDoesNotKnowReportsNoEnd() async throws {
            try await withAgent { agent, collector, _ in
                await agent.shutdown()
                let batches = collector.received.filter { $0.path == "/v1/metrics" }
                let (first, all) = (try Self.ends(in: batches.prefix(1)), try Self.ends(in: batches))
                #expect(first.isEmpty && all == (batches.isEmpty ? [] : ["clean"]))
                #expect(Self.records(agent).isEmpty)
            }
        }

        @Test func agentThatIsNotToWatchKeepsNoRecord() async throws {
            try await withAgent({ $0.watchCrashes = false }) { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "hello/ada")
                await agent.flush()
                #expect(Self.records(agent).isEmpty)
                await agent.shutdown()
                #expect(try Self.ends(collector) == ["clean"])
            }
        }

        /// The paths of the records in the agent's buffer.
        private static func records(_ agent: MartletAgent) -> [String] {
            guard let directory = agent.status.bufferDirectory else { return [] }
            let names = FileManager.default.enumerator(atPath: directory.path)?.allObjects as? [String]
            return (names ?? []).filter { $0.hasSuffix("/" + ProcessRecord.fileName) }
        }
    }
}
