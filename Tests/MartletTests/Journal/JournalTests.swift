import Foundation
import MartletTelemetry
import Synchronization
import Testing

@testable import Martlet

@Suite struct JournalTests {
    @Test func writtenRecordsAreReadBackUnchanged() throws {
        let fixture = try JournalFixture()
        var client = RecorderTests.request("http://ada:secret@Example.com:8080/users/4711?token=hunter2#top")
        client.method = "POST"
        client.status = 503
        client.error = "503"
        client.bytesSent = 7
        client.bytesReceived = 1 << 40
        client.phases[.dns] = 5_000_000
        client.phases[.transfer] = 0
        client.httpVersion = .http11
        fixture.recorder.record(client)
        var server = CapturedRequest(
            kind: .server, method: "GET", destination: .target(RequestTarget(host: "", port: 0, path: "/x")),
            route: "/orders/{id}", start: Clock.wall(), durationNanoseconds: 2_000_000)
        (server.isSecure, server.httpVersion) = (true, .http3)
        fixture.recorder.record(server)
        #expect(fixture.recorder.journal.count == 2)
        let interval = try fixture.endInterval()
        let expected = Recorder(MartletConfiguration())
        expected.record(client)
        expected.record(server)
        #expect(interval.series == expected.drain().interval.series)
        #expect(interval.series.keys.contains { $0.endpoint == "/users/{id}" && $0.port == 8080 })
        #expect(interval.series.keys.contains { $0.isSecure && $0.httpVersion == .http3 })
        #expect(interval.series.keys.contains { !$0.isSecure && $0.httpVersion == .http11 })
    }

    @Test(arguments: RequestConventions.allCases) func calledSystemIsInTheRecord(conventions: RequestConventions) throws
    {
        let fixture = try JournalFixture()
        var request = CapturedRequest(
            method: "SELECT", destination: .target(RequestTarget(host: "db", port: 5432, path: "/")),
            route: "SELECT users", start: Clock.wall(), durationNanoseconds: 1)
        request.rule = "drill"
        if conventions != .http {
            request.system = CalledSystem(name: String(repeating: "s", count: 300), conventions: conventions)
        }
        fixture.recorder.record(request)
        let found = try #require(try fixture.endInterval().series.keys.first)
        #expect(found.conventions == conventions && found.system == request.system.map { String($0.name.prefix(255)) })
        #expect(found.method == "SELECT" && found.endpoint == "SELECT users" && found.kind == .client)
        #expect(found.host == "db" && found.port == 5432 && found.rule == "drill")
    }

    @Test func everyPhaseOfARequestIsInItsRecord() throws {
        let fixture = try JournalFixture()
        var request = RecorderTests.request("https://h/a")
        for (number, phase) in RequestPhase.allCases.enumerated() { request.phases[phase] = UInt64(number + 1) << 30 }
        fixture.recorder.record(request)
        let interval = try fixture.endInterval()
        let phases = try #require(interval.series.first?.value.phases)
        #expect(interval.series.first?.key.port == 443)
        for (number, phase) in RequestPhase.allCases.enumerated() {
            #expect(phases[phase] == PhaseTotals.Total(count: 1, seconds: Double((number + 1) << 30) / 1e9))
        }
    }

    @Test func journalOnlyInMemoryIsReportedInEveryInterval() {
        let recorder = Recorder(MartletConfiguration())
        let keeper = JournalKeeper(recorder.journal)
        keeper.beginInMemory()
        for _ in 1...3 {
            #expect(keeper.problem == "no directory can be written to")
            #expect(recorder.closeSegments { keeper.close() })
            keeper.recycle()
        }
        for memory in keeper.closeForGood().empty { memory.remove() }
    }

    @Test func noPossiblySecretPartOfAURLIsInTheFile() throws {
        let fixture = try JournalFixture()
        fixture.recorder.record(RecorderTests.request("http://ada:hunter2@h/p?token=hunter2#hunter2"))
        for file in try fixture.segmentFiles() {
            #expect(!String(decoding: file.bytes, as: UTF8.self).contains("hunter2"))
        }
        #expect(try fixture.endInterval().requests == 1)
    }

    /// Until its interval is sealed, a path is in the file as it is in the URL (docs/internals/buffer.md).
    @Test func pathIsInTheFileOnlyIfItNamesTheEndpoint() throws {
        let fixture = try JournalFixture { $0.name = { $0.path.hasPrefix("/bot") ? "/bot{token}/send" : nil } }
        let routed = CapturedRequest(
            kind: .server, method: "GET", destination: .target(RequestTarget(host: "h", port: 80, path: "/hunter2")),
            route: "/{word}", start: Clock.wall(), durationNanoseconds: 1)
        fixture.recorder.record(routed)
        fixture.recorder.record(RecorderTests.request("http://h/bot4711:hunter2/send"))
        fixture.recorder.record(RecorderTests.request("http://h/open/swordfish99"))
        let files = try fixture.segmentFiles().map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        #expect(!files.contains("hunter2"))
        #expect(files.contains("/open/swordfish99"))
        let endpoints = try fixture.endInterval().series.keys.map(\.endpoint)
        #expect(Set(endpoints).isSuperset(of: ["/{word}", "/bot{token}/send"]))
        let sealed = try fixture.segmentFiles().map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        #expect(!sealed.contains("swordfish99"))
    }

    /// The first requests of a thread are recorded before the filter is installed, because they load code and allocate
    /// the thread's memory. All requests fit into one segment.
    @Test(.enabled(if: SystemCallFilter.isPossible)) func recordingThreadMakesNoSystemCallAndWaitsForNoOther() throws {
        let fixture = try JournalFixture { $0.bufferMax = 64 << 20 }
        let recorder = fixture.recorder
        let request = RecorderTests.request("http://host/a")
        let record: @Sendable () -> Void = { for _ in 0..<300 { recorder.record(request) } }
        #expect(SystemCallFilter.calls(inThreads: 4, of: record) == [])
        #expect(try fixture.endInterval().requests == 2400)
        // Check that the filter sees a call.
        #expect(SystemCallFilter.calls(inThreads: 1, of: { _ = sched_yield() }) == [SystemCallFilter.yield])
    }

    @Test func manyThreadsWriteWhileIntervalsEnd() async throws {
        let fixture = try JournalFixture()
        let recorder = fixture.recorder
        let writers = (0..<3).map { worker in
            Thread {
                let request = RecorderTests.request("http://host/\(worker == 0 ? "a" : "b")/path")
                for _ in 0..<20_000 { recorder.record(request) }
            }
        }
        for writer in writers { writer.start() }
        var counted: UInt64 = 0
        while writers.contains(where: { !$0.isFinished }) {
            fixture.prepareNextSegment()
            counted += try fixture.endInterval().requests
            await Task.yield()
        }
        counted += try fixture.endInterval().requests
        #expect(counted == 60_000)
        #expect(recorder.captured == 60_000)
    }

    @Test func requestsAreCountedInMemoryWhenEverySegmentIsFull() throws {
        let fixture = try JournalFixture()
        let request = RecorderTests.request("http://host/a")
        for _ in 0..<5_000 { fixture.recorder.record(request) }
        #expect(fixture.recorder.captured == 5_000)
        #expect(fixture.recorder.journal.count < 5_000)
        // A single thread fills all lanes. At the end of each, too little room for a record may remain.
        #expect(fixture.recorder.journal.count > 2 * (MartletLimits.smallestSegment - 4 * 256) / 128)
        #expect(try fixture.endInterval().requests == 5_000)
        for _ in 0..<20_000 {
            fixture.recorder.record(request)
            fixture.prepareNextSegment()
        }
        #expect(fixture.recorder.captured == 25_000)
        #expect(try fixture.endInterval().requests == 20_000)
    }

    /// Closing a lane waits for no thread, so its head never goes past its end.
    @Test func shorterRecordsTakeTheRoomThatALongOneLeaves() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        let segment = JournalSegment(capacity: 4096)
        segment.open(memory, seed: 1)
        for length in [1008, 16] {
            for _ in 0..<JournalSegment.lanes { #expect(segment.reserve(length).isReserved) }
            #expect(!segment.reserve(length).isReserved)
        }
        let extents = segment.close()
        #expect(extents.map(\.records) == [2, 2, 2, 2])
        #expect(extents.map(\.range.count) == [1024, 1024, 1024, 1024])
        #expect(segment.close().isEmpty)
    }

    @Test func killedProcessLeavesOnlyTheRecordsOfItsLastInterval() throws {
        let fixture = try JournalFixture()
        for _ in 0..<300 { fixture.recorder.record(RecorderTests.request("http://host/before")) }
        _ = try fixture.endInterval()
        for _ in 0..<10 { fixture.recorder.record(RecorderTests.request("http://host/then")) }
        _ = try fixture.endInterval()
        for _ in 0..<20 { fixture.recorder.record(RecorderTests.request("http://host/last")) }
        var found: [String: UInt64] = [:]
        for file in try fixture.segmentFiles() {
            var statistics = recordsRead(file.bytes).statistics
            for (dimensions, statistics) in statistics.take(at: nil).series {
                found[dimensions.endpoint, default: 0] += statistics.duration.count
            }
        }
        #expect(found == ["/last": 20])
    }

    @Test func onlyAnUnsealedIntervalLeavesAFileBehind() throws {
        let fixture = try JournalFixture()
        fixture.recorder.record(RecorderTests.request("http://host/a"))
        _ = try fixture.endInterval()
        fixture.finish()
        #expect(try fixture.segmentFiles().isEmpty)

        let unsealed = try JournalFixture()
        unsealed.recorder.record(RecorderTests.request("http://host/a"))
        #expect(unsealed.close())
        unsealed.finish()
        #expect(try unsealed.segmentFiles().isEmpty == false)
    }

    @Test func closedSegmentStaysClosedAtEveryAttempt() {
        let journal = Journal(capacity: 4096)
        let request = RecorderTests.request("http://host/a")
        for _ in 0..<100_000 { #expect(!journal.append(request)) }
        #expect(journal.count == 0)
    }

    @Test func aSegmentThatIsOpenedLateTakesTheNextRecord() {
        let full = Mutex(0)
        let journal = Journal(capacity: 4096) { full.withLock { $0 += 1 } }
        let memories = (0..<2).map { _ in UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16) }
        defer { for memory in memories { memory.deallocate() } }
        for memory in memories { memory.initializeMemory(as: UInt8.self, repeating: 0) }
        let request = RecorderTests.request("http://host/a")
        journal.open(bank: 0, slot: 0, memories[0], seed: 1)
        while journal.append(request) {}
        #expect(journal.slotInUse == 0)
        #expect(full.withLock { $0 } == 0)
        journal.open(bank: 0, slot: 1, memories[1], seed: 2)
        #expect(journal.append(request))
        #expect(journal.slotInUse == 1)
        #expect(full.withLock { $0 } == 1)
        for slot in 0..<2 { _ = journal.close(bank: 0, slot: slot) }
    }
}

extension JournalLane.Reservation {
    fileprivate var isReserved: Bool { if case .reserved = self { true } else { false } }
}
