import CMartletHooks
import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

/// What a process leaves of itself, and what the next one reads of it. A process keeps one record at a time.
@Suite(.serialized) struct ProcessRecordTests {
    private static let second: UInt64 = 1_000_000_000
    private static let host = EndedRecord.Host(boot: "this boot", memoryKills: 5, processStart: nil)

    /// Keeps a record while `body` runs. Returns the file as a process that is killed then would leave it.
    static func record(_ body: (ProcessRecord) throws -> Void = { _ in }) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let record = try #require(ProcessRecord(in: folder.url))
        defer { record.remove() }
        try body(record)
        return try [UInt8](Data(contentsOf: folder.url.appendingPathComponent(ProcessRecord.fileName)))
    }

    /// Returns the record of a process whose last beat was at second 100, after changes to its head and its crash.
    static func ended(
        _ bytes: [UInt8], _ change: (inout martlet_record, inout martlet_crash) -> Void = { _, _ in }
    ) throws -> EndedRecord {
        let bytes = changed(bytes, change)
        return try #require(bytes.withUnsafeBytes { EndedRecord($0) })
    }

    static func changed(
        _ bytes: [UInt8], _ change: (inout martlet_record, inout martlet_crash) -> Void
    ) -> [UInt8] {
        var bytes = bytes
        bytes.withUnsafeMutableBytes { bytes in
            let at = Int(MARTLET_RECORD_CRASH)
            var head = bytes.loadUnaligned(as: martlet_record.self)
            var crash = bytes.loadUnaligned(fromByteOffset: at, as: martlet_crash.self)
            withUnsafeMutableBytes(of: &head.boot) { boot in
                boot.initializeMemory(as: UInt8.self, repeating: 0)
                boot.copyBytes(from: "this boot".utf8)
            }
            (head.beat, head.oom_kills, head.memory, head.memory_limit) = (100 * second, 5, 10, 100)
            change(&head, &crash)
            bytes.storeBytes(of: head, as: martlet_record.self)
            bytes.storeBytes(of: crash, toByteOffset: at, as: martlet_crash.self)
        }
        return bytes
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let cause: EndCause
        var host = ProcessRecordTests.host
        let change: @Sendable (inout martlet_record, inout martlet_crash) -> Void

        init(
            _ name: String, _ cause: EndCause, host: EndedRecord.Host = ProcessRecordTests.host,
            _ change: @escaping @Sendable (inout martlet_record, inout martlet_crash) -> Void = { _, _ in }
        ) {
            (testDescription, self.cause, self.host, self.change) = (name, cause, host, change)
        }
    }

    private static let cases = [
        Case("no trace", .killed),
        Case("exit()", .exit) { head, _ in head.exited = 100 * second },
        Case("a shutdown without time, then exit()", .clean) { head, _ in
            (head.stop_begun, head.exited) = (98 * second, 100 * second)
        },
        Case("a shutdown without an end", .noTime) { head, _ in head.stop_begun = 98 * second },
        Case("SIGTERM, and no shutdown", .noTime) { head, _ in head.asked = 90 * second },
        Case("a crash", .signal) { _, crash in (crash.signal, crash.time) = (SIGILL, 100 * second) },
        Case("a crash during exit()", .signal) { head, crash in
            (head.exited, crash.signal, crash.time) = (99 * second, SIGSEGV, 100 * second)
        },
        Case("a crash that took time to be reported", .signal) { head, crash in
            (head.beat, crash.signal, crash.time) = (120 * second, SIGILL, 100 * second)
        },
        Case("a signal that it survived", .killed) { _, crash in (crash.signal, crash.time) = (SIGABRT, 50 * second) },
        Case("another boot", .hostDown, host: .init(boot: "next boot", memoryKills: 0, processStart: nil)),
        Case("a crash before another boot", .signal, host: .init(boot: "next boot", memoryKills: 0, processStart: nil))
        {
            _, crash in (crash.signal, crash.time) = (SIGBUS, 100 * second)
        },
        Case("a kill for memory", .outOfMemory) { head, _ in (head.oom_kills, head.memory) = (4, 90) },
        Case("a kill for the memory of another", .killed) { head, _ in (head.oom_kills, head.memory) = (4, 10) },
        Case("much memory, and no kill for it", .killed) { head, _ in head.memory = 99 },
        Case("a kernel that does not count kills", .killed) { head, _ in (head.oom_kills, head.memory) = (.max, 99) },
        Case("another program in the same process", .unknown, host: .init(boot: "this boot", processStart: 77)) {
            head, _ in head.process_start = 77
        },
    ]

    @Test(arguments: cases) func causeFollowsFromWhatIsLeft(of one: Case) throws {
        let record = try Self.ended(Self.record(), one.change)
        #expect(record.cause(on: one.host) == one.cause)
    }

    @Test func timeIsThatOfTheCause() throws {
        let record = try Self.ended(Self.record()) { head, crash in
            (head.exited, crash.time) = (101 * Self.second, 102 * Self.second)
        }
        #expect(record.time(of: .signal) == 102 * Self.second)
        #expect(record.time(of: .exit) == 101 * Self.second)
        #expect(record.time(of: .killed) == 100 * Self.second)
    }

    @Test func recordHasTheProcessAndItsBeat() throws {
        let begin = Clock.wall()
        let bytes = try Self.record()
        let head = bytes.withUnsafeBytes { $0.loadUnaligned(as: martlet_record.self) }
        #expect(head.pid == UInt64(getpid()))
        #expect(head.process_start == ProcessSample.processStart())
        #expect((begin...Clock.wall()).contains(head.start) && head.beat >= head.start)
        #expect(head.memory > 1 << 20 && head.memory_limit >= head.memory)
        let record = try #require(bytes.withUnsafeBytes { EndedRecord($0) })
        #expect(record.build == CodePlaces.Program.own.build && !record.build.isEmpty)
        #expect(record.cause(on: .init(boot: MemoryPressure.boot())) == .killed)
        // This process still lives under its number.
        let start = ProcessSample.processStart(of: "\(record.processID)")
        #expect(record.cause(on: .init(boot: MemoryPressure.boot(), processStart: start)) == .unknown)
    }

    @Test func requestsInFlightAreNamedAndCounted() throws {
        let start = Clock.wall()
        let bytes = try Self.record { _ in
            let slots = [
                RequestSlot(.server, start: start, name: "GET /files/{name}", isRoute: true),
                RequestSlot(.server, start: start, name: "GET /files/{name}", isRoute: true),
                RequestSlot(.server, start: start, name: "GET /users/4711/hunter2x9f8e7d6c5b"),
                RequestSlot(.client, start: start, name: "POST api.example.com/pay/4711"),
                RequestSlot(.server, start: 0),
                RequestSlot(
                    .client, start: start, name: "GET api.example.com/" + String(repeating: "documents/", count: 20)),
                RequestSlot(.client, start: start, name: "GET api.example.com/ended"),
            ]
            slots[4].name(.server, "PUT /named", isRoute: false)
            slots[6].end()
            slots[6].end()
        }
        let record = try Self.ended(bytes)
        #expect(record.inFlight == 6)
        let requests = record.requests(EndpointNamer(templates: []))
        #expect(requests.first == .init(kind: .server, name: "GET /files/{name}", count: 2))
        let others = Set(requests.dropFirst().map { "\($0.count) \($0.kind) \($0.name)" })
        let long = "GET api.example.com" + String(repeating: "/documents", count: 9) + "/{id}"
        #expect(
            others == [
                "1 server GET /users/{id}/{id}", "1 client POST api.example.com/pay/{id}", "1 server PUT /named",
                "1 client \(long)",
            ], "\(others)")
        let templates = record.requests(EndpointNamer(templates: ["/users/{user}/{token}"]))
        #expect(templates.contains { $0.name == "GET /users/{user}/{token}" })
    }

    @Test func fullTableIsCountedAndFreeAgainAfterAnEnd() throws {
        let bytes = try Self.record { _ in
            let slots = (0...MARTLET_RECORD_SLOTS).map { RequestSlot(.server, start: UInt64($0) + 2) }
            for slot in slots.prefix(24) { slot.end() }
            // The slots of the first 24 are free again.
            for number in 0..<24 { _ = RequestSlot(.client, start: UInt64(number) + 5000, name: "GET host/late") }
        }
        let head = bytes.withUnsafeBytes { $0.loadUnaligned(as: martlet_record.self) }
        #expect(head.full == 1)
        #expect(try Self.ended(bytes).inFlight == Int(MARTLET_RECORD_SLOTS))
    }

    @Test func threadsTakeDifferentSlots() async throws {
        let bytes = try Self.record { _ in
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                for number in 0..<1000 {
                    let slot = RequestSlot(.server, start: UInt64(number) + 2, name: "GET /thread")
                    if number < 20 { continue }
                    slot.end()
                }
            }
        }
        let record = try Self.ended(bytes)
        #expect(record.inFlight == 160)
        #expect(record.requests(EndpointNamer()).map(\.count) == [160])
    }

    @Test func endedRecordOfAnEarlierAgentIsNotWritten() throws {
        let folder = try TemporaryFolder()
        let first = try #require(ProcessRecord(in: folder.url))
        let slot = RequestSlot(.server, start: 5, name: "GET /early")
        let bytes = try Self.record { _ in
            first.beat()
            first.remove()
            // The second record is still in use.
            _ = RequestSlot(.server, start: 6, name: "GET /late")
            slot.end()
        }
        #expect(try Self.ended(bytes).requests(EndpointNamer()).map(\.name) == ["GET /late"])
        _ = RequestSlot(.server, start: 7)
    }

    @Test func fileThatIsNotWholeIsNotRead() throws {
        let bytes = try Self.record()
        #expect(bytes.count == Int(MARTLET_RECORD_BYTES))
        #expect(bytes.dropLast().withUnsafeBytes { EndedRecord($0) } == nil)
        #expect(([0] + bytes.dropFirst()).withUnsafeBytes { EndedRecord($0) } == nil)
        #expect([UInt8]().withUnsafeBytes { EndedRecord($0) } == nil)
    }

    @Test func limitOfMemoryIsTheLowestOfTheGroups() {
        let files = [
            "/proc/self/cgroup": "0::/shop/web\n", "/sys/fs/cgroup/shop/web/memory.max": "max\n",
            "/sys/fs/cgroup/shop/memory.max": "1048576\n", "/sys/fs/cgroup/memory.max": "4194304\n",
        ]
        #expect(MemoryPressure.limit { files[$0] } == 1_048_576)
        let first = MemoryPressure.limitFiles(groups: "9:cpu:/a\n5:memory,other:/docker/x\n")
        #expect(
            first == [
                "/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            ])
        #expect(MemoryPressure.limit { _ in nil } > 1 << 20)
        #expect(MemoryPressure.kills { $0 == "/proc/vmstat" ? "oom_killed 3\noom_kill 7\n" : nil } == 7)
        #expect(MemoryPressure.kills { _ in nil } == nil)
    }
}
