import Fixtures
import GRDB
import HummingbirdTesting
import MartletOTLP
import MartletTelemetry
import Testing

@testable import MartletServer

/// The limits of reads in progress and of reads that wait.
@Suite(.timeLimit(.minutes(3))) struct ReadLimiterTests {
    private static let report = "/api/v1/report?since=1h"

    private func limits(reads: Int, waiting: Int) -> ServerLimits {
        var limits = ServerLimits()
        (limits.maxReads, limits.maxWaitingReads) = (reads, waiting)
        return limits
    }

    @Test func reportsOverTheLimitWaitAndOverTheLineAre503() async throws {
        let gate = Gate()
        try await withServer(
            serverLimits: limits(reads: 1, waiting: 1), storage: { HeldReads(storage: $0, gate: gate) }
        ) { client in
            #expect(try await client.post(try Samples.body()).status == .ok)
            try await withThrowingTaskGroup(of: RawConnection.Answer?.self) { group in
                let port = client.port
                group.addTask { try await RawConnection.get(Self.report, port: port) }
                await gate.arrived()
                for _ in 0..<2 { group.addTask { try await RawConnection.get(Self.report, port: port) } }
                let refused = try #require(try await group.next() ?? nil)
                #expect(refused.status == 503)
                #expect(refused.headers["retry-after"] == "1")
                #expect(refused.headers["content-type"] == "application/json; charset=utf-8")
                // A list of senders counts as a read. The paths below are not reads, or have a separate limiter.
                #expect(try await client.get("/api/v1/agents").status == .serviceUnavailable)
                for path in ["/readyz", "/healthz", "/metrics"] {
                    let response = try await client.get(path)
                    #expect(response.status == .ok)
                }
                await gate.open()
                for try await answer in group { #expect(answer?.status == 200) }
            }
            #expect(try await client.count() == 5)
        }
    }

    @Test func waitingReadersAreAnsweredBeforeTheCollectorStops() async throws {
        let gate = Gate()
        let (servers, server) = AsyncStream.makeStream(of: CollectorServer.self)
        try await withServer(
            serverLimits: limits(reads: 1, waiting: 1), storage: { HeldReads(storage: $0, gate: gate) },
            prepare: { server.yield($0) }
        ) { client in
            let requests = try #require(await servers.first { _ in true }).requests
            try await withThrowingTaskGroup(of: Int?.self) { group in
                let port = client.port
                group.addTask { try await RawConnection.get(Self.report, port: port)?.status }
                await gate.arrived()
                for _ in 0..<2 { group.addTask { try await RawConnection.get(Self.report, port: port)?.status } }
                #expect(try await group.next() == 503)
                async let drained: Void = requests.drain()
                try await wait(for: "a collector that is not ready") { try await client.get("/readyz").status != .ok }
                await gate.open()
                for try await status in group { #expect(status == 200) }
                await drained
            }
        }
    }

    @Test func readerThatDoesNotTakeItsAnswerKeepsItsSlot() async throws {
        let series = (0..<8000).map { (Samples.dimensions(endpoint: "/\($0)"), Samples.statistics([1])) }
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
            series: Dictionary(uniqueKeysWithValues: series), ledger: Ledger(captured: 8000, waiting: 8000))
        let gate = Gate()
        var limits = limits(reads: 1, waiting: 0)
        limits.stallTimeout = .milliseconds(1)
        try await withServer(serverLimits: limits, storage: { HeldReads(storage: $0, gate: gate) }) { client in
            #expect(try await client.post(try batch.otlp()).status == .ok)
            try await RawConnection.open(port: client.port, receiveBuffer: 65_536) { slow in
                try await slow.send("GET \(Self.report) HTTP/1.1\r\nHost: test\r\n\r\n")
                await gate.arrived()
                await gate.open()
                // The answer exceeds the 4 MB that sockets hold.
                for _ in 0..<20 {
                    let response = try await client.get("/api/v1/agents")
                    #expect(response.status == .serviceUnavailable)
                }
                let answer = try #require(try await slow.answer())
                #expect(answer.body.count > 5_000_000)
            }
            try await wait(for: "a free slot") { try await client.get("/api/v1/agents").status == .ok }
        }
    }

    @Test func stalledScrapersMakeWayForOneThatReads() async throws {
        let series = (0..<4900).map {
            (Samples.dimensions(endpoint: "/a/long/name/of/endpoint/\($0)"), Samples.statistics([1]))
        }
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
            series: Dictionary(uniqueKeysWithValues: series), ledger: Ledger(captured: 4900, waiting: 4900))
        var limits = limits(reads: 1, waiting: 32)
        limits.answerTimeout = .seconds(3600)
        try await withServer(serverLimits: limits) { client in
            #expect(try await client.post(try batch.otlp()).status == .ok)
            // The page exceeds the 4 MB that sockets hold.
            try await RawConnection.open(port: client.port, receiveBuffer: 65_536) { silent in
                try await silent.send("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n")
                for _ in 0..<2 {
                    let page = try await RawConnection.get("/metrics", port: client.port)
                    #expect(page?.status == 200)
                }
            }
        }
    }

    @Test func eightSimultaneousPanelsAreAllAnswered() async throws {
        try await withServer { client in
            #expect(try await client.post(try Samples.body()).status == .ok)
            try await withThrowingTaskGroup(of: Int?.self) { group in
                let port = client.port
                for path in [Self.report, "/metrics"] {
                    for _ in 0..<8 { group.addTask { try await RawConnection.get(path, port: port)?.status } }
                }
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func readerWithManyReadsKeepsNobodyOut() async throws {
        let gate = Gate()
        try await withServer(
            serverLimits: limits(reads: 3, waiting: 4), storage: { HeldReads(storage: $0, gate: gate) }
        ) { client in
            try await withThrowingTaskGroup(of: Int?.self) { group in
                let port = client.port
                for _ in 0..<40 { group.addTask { try await RawConnection.get(Self.report, port: port)?.status } }
                // Two are read, and four wait.
                for _ in 0..<34 { #expect(try await group.next() == 503) }
                for _ in 0..<10 {
                    try await RawConnection.open(port: port, from: "127.0.0.2") { other in
                        try await other.send("GET /api/v1/agents HTTP/1.1\r\nHost: test\r\n\r\n")
                        #expect(try await other.answer()?.status == 200)
                    }
                }
                await gate.open()
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    /// Waits in line, and notes its turn.
    private func queue(
        _ name: String, as reader: String, for limiter: ReadLimiter, _ turns: AsyncStream<String>.Continuation
    ) async throws {
        turns.yield(try await limiter.enter(reader) == nil ? name + " is refused" : name)
    }

    @Test func slotGoesToTheReaderThatHoldsTheFewest() async throws {
        let limiter = ReadLimiter(limits(reads: 3, waiting: 3))
        var slots = [try await limiter.enter("a"), try await limiter.enter("a"), try await limiter.enter("c")]
        let (turns, turn) = AsyncStream.makeStream(of: String.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, (name, reader)) in [("a1", "a"), ("a2", "a"), ("a3", "a")].enumerated() {
                group.addTask { try await queue(name, as: reader, for: limiter, turn) }
                try await wait(for: "a read in line") { limiter.waitingCount == number + 1 }
            }
            // The line is full, so the last read of `a` makes way.
            var found = turns.makeAsyncIterator()
            group.addTask { try await queue("b1", as: "b", for: limiter, turn) }
            #expect(await found.next() == "a3 is refused")
            try await wait(for: "a read in line") { limiter.waitingCount == 3 }
            #expect(try await limiter.enter("a") == nil)
            slots[0] = nil
            #expect(await found.next() == "b1")
            #expect(await found.next() == "a1")
            #expect(await found.next() == "a2")
            slots = []
        }
    }

    @Test func storeHasAReaderForReadinessAndOneForMaintenance() {
        #expect(Configuration().maximumReaderCount >= ServerLimits().maxReads + 2)
    }
}
