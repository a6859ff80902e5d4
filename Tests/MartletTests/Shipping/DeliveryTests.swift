import Fixtures
import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import MartletTelemetry
import Synchronization
import Testing

@testable import Martlet

extension AgentTests {
    @Suite struct DeliveryTests {
        @Test func agentsOwnUploadsAreNeverCounted() async throws {
            try await withAgent { agent, collector, base in
                for _ in 1...3 {
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                }
                let counts = try collector.counts()
                #expect(counts == ["/hello/x": 3])
                let ledger = agent.status.ledger
                #expect(ledger == .init(captured: 3, delivered: 3))
            }
        }

        @Test func flushWithALimitReturnsWhetherEverythingIsAtTheCollector() async throws {
            try await withAgent { agent, collector, base in
                let flush = { await agent.flush(within: .seconds(60)) }
                _ = try await URLSession.shared.data(from: base / "hello/x")
                #expect(await flush())
                #expect(await flush())
                collector.answer(503)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                #expect(await !flush())
                #expect(await flush())
                collector.answer(400)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                #expect(await !flush())
                #expect(agent.status.ledger == .init(captured: 3, delivered: 2, dropped: [.rejected: 1]))
                await agent.shutdown()
                #expect(await flush())
            }
        }

        /// Without the limit, the flush would wait for the collector's answer for ten minutes.
        @Test func flushWithALimitReturnsAlthoughTheCollectorDoesNotAnswer() async throws {
            try await withAgent({ $0.exportTimeout = .seconds(600) }) { agent, collector, base in
                collector.isSilent.store(true, ordering: .relaxed)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                #expect(await !agent.flush(within: .milliseconds(300)))
                #expect(agent.status.ledger == .init(captured: 1, waiting: 1))
                await agent.shutdown(within: .milliseconds(300))
            }
        }

        @Test func batchIsSealedAndSentEveryIntervalWithoutAFlush() async throws {
            try await withAgent({ $0.interval = .milliseconds(100) }) { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "hello/x")
                // An interval without requests may come first.
                while try collector.counts().isEmpty { await collector.awaitPosts(collector.received.count + 1) }
                let counts = try collector.counts()
                #expect(counts == ["/hello/x": 1])
            }
        }

        @Test func sealingDoesNotWaitForALongDeliveryOfTheBuffer() async throws {
            let directory = try TemporaryFolder()
            for sequence in 1...20 as ClosedRange<UInt64> {
                try Self.leaveBatch(sequence, in: directory.url.appendingPathComponent("shop"))
            }
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
                $0.interval = .milliseconds(100)
            }) { agent, collector, base in
                collector.delay.store(50, ordering: .relaxed)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await collector.awaitPosts(10)
                let own = directory.contents().filter { $0.hasSuffix(".otlp.gz") }
                #expect(!own.isEmpty)
                collector.delay.store(0, ordering: .relaxed)
            }
        }

        @Test func fullBufferDropsTheOldestAndCountsIt() async throws {
            // Room for one batch, the directory, three other files in it, and the journal's share.
            let limit = try BufferRoomTests.block(in: TemporaryFolder()) * 5 * 4 / 3
            try await withAgent({
                $0.bufferMax = limit
                $0.sampleRate = 0
            }) { agent, collector, base in
                collector.answer(503, 503, 503, 503)
                for path in ["hello/a", "hello/b", "hello/c", "hello/d", "hello/e"] {
                    _ = try await URLSession.shared.data(from: base / path)
                    await agent.flush()
                }
                let ledger = agent.status.ledger
                let dropped = try #require(ledger.dropped[.bufferFull])
                #expect(ledger.captured == 5)
                #expect(ledger.delivered + dropped == 5)
                let counts = try collector.counts()
                #expect(counts["/hello/e"] == 1)
                #expect(counts["/hello/a"] == nil)
                #expect(UInt64(counts.count) == ledger.delivered)
                #expect(agent.status.bufferedBytes <= limit)
            }
        }

        @Test func mergedBatchesAreDeliveredWithAllTheirCounts() async throws {
            // Room for three batches, the directory, three other files in it, and the journal's share.
            let limit = try BufferRoomTests.block(in: TemporaryFolder()) * 7 * 4 / 3
            try await withAgent({
                $0.bufferMax = limit
                $0.sampleRate = 0
            }) { agent, collector, base in
                collector.answer(503, 503, 503, 503, 503, 503, 503)
                for _ in 1...8 {
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                }
                #expect(agent.status.ledger == .init(captured: 8, delivered: 8))
                let counts = try collector.counts()
                #expect(counts == ["/hello/x": 8])
                #expect(collector.accepted.keys.contains { $0.split(separator: "/")[1].contains("-") })
            }
        }

        @Test func bufferRemovedFromARunningServiceIsRecreatedAndItsLossCounted() async throws {
            let directory = try TemporaryFolder()
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.sampleRate = 0
            }) { agent, collector, base in
                collector.answer(503)
                _ = try await URLSession.shared.data(from: base / "hello/lost")
                await agent.flush()
                for name in directory.contents() {
                    try? FileManager.default.removeItem(at: directory.url.appendingPathComponent(name))
                }
                _ = try await URLSession.shared.data(from: base / "hello/kept")
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts == ["/hello/kept": 1])
                #expect(agent.status.ledger == .init(captured: 2, delivered: 1, dropped: [.gone: 1]))
                #expect(agent.status.bufferError == nil)
            }
        }

        @Test func batchRemovedByAnotherInstanceForRoomIsCountedAsDropped() async throws {
            let directory = try TemporaryFolder()
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
                $0.sampleRate = 0
            }) { agent, collector, base in
                collector.answer(503)
                _ = try await URLSession.shared.data(from: base / "hello/lost")
                await agent.flush()
                let service = directory.url.appendingPathComponent("shop")
                var other = try Outbox.create(instance: "other", in: service)
                var room = BufferRoom(serviceDirectory: service, limit: .max)
                let full = room.measure() + room.overhead
                room = BufferRoom(serviceDirectory: service, limit: full)
                let isThere = room.make(for: 1, own: &other)
                #expect(isThere)
                other.close()
                await agent.flush()
                #expect(agent.status.ledger == .init(captured: 1, dropped: [.gone: 1]))
            }
        }

        @Test func temporarilyUnreadableBatchStaysForLater() async throws {
            let directory = try TemporaryFolder()
            let service = directory.url.appendingPathComponent("shop")
            try Self.leaveBatch(1, in: service)
            let unreadable = BatchFile(
                sequence: 2, signal: .metrics, requests: 3, isCompressed: false, body: []
            ).name
            // A link to itself exists and cannot be opened, even by root.
            try FileManager.default.createSymbolicLink(
                atPath: service.appendingPathComponent("dead/\(unreadable)").path, withDestinationPath: unreadable)
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
            }) { agent, collector, _ in
                await agent.flush()
                #expect(collector.received.map(\.batch) == ["dead/1/metrics"])
            }
            #expect(directory.contents().contains("shop/dead/\(unreadable)"))
        }

        @Test func batchesOfAnEarlierProcessAreSentUnderItsName() async throws {
            let directory = try TemporaryFolder()
            try Self.leaveBatch(in: directory.url.appendingPathComponent("shop"))
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
                $0.sampleRate = 0
            }) { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                #expect(collector.received.map(\.batch).contains("dead/7/metrics"))
                #expect(collector.received.count == 2)
                #expect(agent.status.ledger == .init(captured: 1, delivered: 1))
            }
            #expect(directory.contents() == ["shop"])
        }

        @Test func callersOwnRequestsAreSentBeforeThoseOfEarlierProcesses() async throws {
            let directory = try TemporaryFolder()
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
            }) { agent, collector, base in
                // After this flush the agent waits for the next one.
                await agent.flush()
                try Self.leaveBatch(in: directory.url.appendingPathComponent("shop"))
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                let senders = collector.received.map { $0.batch?.hasPrefix("dead/") }
                #expect(senders.suffix(2) == [false, true])
            }
        }

        @Test func batchesUnderAnotherTokenWaitInTheStatusUntilTheyAreAdopted() async throws {
            let directory = try TemporaryFolder()
            let elsewhere = try #require(URL(string: "http://127.0.0.1:9"))
            for sequence in [7, 8] as [UInt64] {
                try Self.leaveBatch(sequence, in: directory.url.appendingPathComponent("shop")) {
                    $0.collector = elsewhere
                    $0.token = "old"
                }
            }
            let cases = [([], []), ([elsewhere], ["dead/7/metrics", "dead/8/metrics"])] as [([URL], [String?])]
            for (adopted, batches) in cases {
                try await withAgent({
                    $0.bufferDirectory = directory.url
                    $0.serviceName = "shop"
                    $0.bufferAdopt = adopted
                }) { agent, collector, _ in
                    await agent.flush()
                    #expect(collector.received.map(\.batch) == batches)
                    #expect(agent.status.waitingElsewhere == (adopted.isEmpty ? 6 : 0))
                }
            }
        }

        /// The collector takes half a second for each of ten batches, so five seconds for all of them.
        @Test func earlierCollectorDelaysAFlushForAtMostHalfASecond() async throws {
            let (directory, slow) = (try TemporaryFolder(), StubCollector())
            slow.delay.store(500, ordering: .relaxed)
            try await LoopbackServer.run(service(with: slow)) { elsewhere in
                for sequence in 1...10 as ClosedRange<UInt64> {
                    try Self.leaveBatch(sequence, in: directory.url.appendingPathComponent("shop")) {
                        $0.collector = elsewhere
                    }
                }
                try await withAgent({
                    $0.bufferDirectory = directory.url
                    $0.serviceName = "shop"
                }) { agent, collector, base in
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                    #expect(collector.received.count == 1)
                    #expect((1...5).contains(slow.received.count))
                    slow.delay.store(0, ordering: .relaxed)
                }
            }
        }

        @Test func shutdownLeavesUndeliveredBatchesInTheOutboxAndTheNextStartDeliversThem() async throws {
            let directory = try TemporaryFolder()
            let first = Mutex<[URL]>([])
            try await withAgent({ $0.bufferDirectory = directory.url }) { agent, collector, base in
                first.withLock { $0 = [base] }
                collector.answer(503)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.shutdown(within: .seconds(5))
                #expect(agent.status.ledger.waiting == 1)
            }
            try await withAgent({
                $0.bufferDirectory = directory.url
                // The second collector has another port, so the agent must adopt the first one's batches.
                $0.bufferAdopt = first.withLock { $0 }
            }) { agent, collector, _ in
                await agent.flush()
                #expect(collector.accepted.keys.contains { $0.hasSuffix("/1/metrics") })
            }
        }

        @Test func silentCollectorDoesNotBlockTheService() async throws {
            let directory = try TemporaryFolder()
            try await withAgent({ $0.bufferDirectory = directory.url }) { agent, collector, base in
                collector.isSilent.store(true, ordering: .relaxed)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                async let flush: Void = agent.flush()
                await arrivals.next()
                await agent.shutdown(within: .milliseconds(300))
                await flush
                #expect(agent.status.ledger == .init(captured: 1, waiting: 1))
            }
            #expect(directory.contents().contains { $0.hasSuffix(".otlp.gz") })
        }

        @Test func unwritableDirectoryIsReplacedByTheTemporaryOneAndLoggedOnce() async throws {
            let directory = try TemporaryFolder()
            let file = directory.url.appendingPathComponent("file")
            try Data().write(to: file)
            let log = InMemoryLogHandler()
            try await withAgent({
                $0.bufferDirectory = file.appendingPathComponent("below")
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "hello/x")
                for _ in 1...3 { await agent.flush() }
                let counts = try collector.counts()
                #expect(counts == ["/hello/x": 1])
                #expect(agent.status.bufferDirectory?.path.hasPrefix(NSTemporaryDirectory()) == true)
            }
            #expect(log.entries.filter { "\($0.message)".contains("Batches are kept in") }.count == 1)
        }

        @Test func eachFailureToStoreAndItsEndAreLogged() async throws {
            let directory = try TemporaryFolder()
            let log = InMemoryLogHandler()
            try await withAgentInOneDirectory(
                directory.url, service: "shop-\(UUID().uuidString)",
                {
                    $0.logger = Logger(label: "test", factory: { _ in log })
                    $0.logLevel = .info
                    $0.sampleRate = 0
                }
            ) { agent, _, base in
                await agent.flush()
                for sequence in 1...2 as ClosedRange<UInt64> {
                    // A file replaces the directory in which batches will be written.
                    let instance = try #require(directory.contents().first { $0.hasSuffix(".lock") }?.dropLast(5))
                    let outbox = directory.url.appendingPathComponent(String(instance))
                    let aside = directory.url.appendingPathComponent("aside")
                    try FileManager.default.moveItem(at: outbox, to: aside)
                    try Data().write(to: outbox)
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                    #expect(agent.status.bufferError != nil)
                    #expect(agent.status.ledger == .init(captured: 2 * sequence - 1, delivered: 2 * sequence - 1))
                    try FileManager.default.removeItem(at: outbox)
                    try FileManager.default.moveItem(at: aside, to: outbox)
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                    #expect(agent.status.bufferError == nil)
                    #expect(agent.status.ledger == .init(captured: 2 * sequence, delivered: 2 * sequence))
                }
            }
            let said = log.entries.map { "\($0.message)" }.filter { $0.contains("Batches") }
            #expect(said.filter { $0.contains("cannot be stored") }.count == 2)
            #expect(said.filter { $0.contains("stored again") }.count == 2)
        }

        @Test func batchThatMayHaveArrivedWeeksAgoIsNotSentAgain() async throws {
            let directory = try TemporaryFolder()
            let service = directory.url.appendingPathComponent("shop")
            do {
                var dead = try Outbox.create(instance: "dead", in: service)
                for sequence in 7...8 as ClosedRange<UInt64> { try dead.store([], as: Self.file(sequence)) }
                let sent = dead.mark(Self.file(7), at: nil)
                for file in [try #require(sent), Self.file(8)] {
                    try FileManager.default.setAttributes(
                        [.modificationDate: Date(timeIntervalSinceNow: -22 * 86400)],
                        ofItemAtPath: dead.directory.appendingPathComponent(file.name).path)
                }
                try dead.store([], as: Self.file(9))
                _ = dead.mark(Self.file(9), at: nil)
                // Another file prevents the removal of the directory and its account.
                try Data().write(to: dead.directory.appendingPathComponent("kept"))
            }
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
            }) { agent, collector, _ in
                await agent.flush()
                #expect(collector.received.map(\.batch) == ["dead/8/metrics", "dead/9/metrics", "dead/10/metrics"])
            }
            let account = try String(contentsOf: service.appendingPathComponent("dead/account"), encoding: .utf8)
            #expect(OutboxAccount(text: account)?.dropped == [.expired: 3])
            #expect(OutboxAccount(text: account)?.delivered == 6)
        }

        @Test func batchIsMarkedBeforeItsFirstByteAndStaysMarkedIfItsOutcomeIsUnknown() async throws {
            let directory = try TemporaryFolder()
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.sampleRate = 0
            }) { agent, collector, base in
                collector.isSilent.store(true, ordering: .relaxed)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                async let flush: Void = agent.flush()
                await arrivals.next()
                await agent.shutdown(within: .milliseconds(300))
                await flush
            }
            #expect(directory.contents().filter { $0.contains(".sent.") && $0.hasSuffix(".otlp.gz") }.count == 1)
        }

        @Test func instanceThatDeliversADeadInstancesBatchesKeepsItsLedger() async throws {
            let directory = try TemporaryFolder()
            let service = directory.url.appendingPathComponent("shop")
            do {
                var dead = try Outbox.create(instance: "dead", in: service)
                for sequence in 1...3 as ClosedRange<UInt64> { try dead.store([], as: Self.file(sequence)) }
                dead.settle(Self.file(1), as: .delivered(rejected: 1))
                // Another file prevents the removal of the directory and its account.
                try Data().write(to: dead.directory.appendingPathComponent("kept"))
            }
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
            }) { agent, collector, _ in
                await agent.flush()
                #expect(agent.status.ledger == .init())
            }
            let account = try String(contentsOf: service.appendingPathComponent("dead/account"), encoding: .utf8)
            #expect(OutboxAccount(text: account)?.delivered == 8)
            #expect(OutboxAccount(text: account)?.dropped == [.rejected: 1])
            #expect(OutboxAccount(text: account)?.lastSettledSequence == 4)
        }

        private static func file(_ sequence: UInt64) -> BatchFile {
            BatchFile(sequence: sequence, signal: .metrics, requests: 3, isCompressed: false, body: [])
        }

        /// Leaves a batch of an instance that died before it could send it.
        ///
        /// - Parameter change: sets the collector that the batch is for. Without it, the batch is for any.
        private static func leaveBatch(
            _ sequence: UInt64 = 7, in service: URL, for change: ((inout MartletConfiguration) -> Void)? = nil
        ) throws {
            var outbox = try Outbox.create(instance: "dead", in: service)
            var configuration = MartletConfiguration()
            if let change {
                change(&configuration)
                try outbox.keep(OutboxOwner(TelemetryResource(service: "shop", instance: "dead"), configuration))
            }
            try outbox.store([], as: file(sequence))
        }
    }
}
