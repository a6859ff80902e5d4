import HummingbirdTesting
import MartletIntake
import MartletServer
import MartletStorage
import MartletTelemetry
import Synchronization
import Testing

/// A collector that is behind refuses requests at once, and takes them later.
@Suite struct OverloadTests {
    @Test func requestsOverTheMemoryAre429UntilOneIsDone() async throws {
        var limits = ServerLimits()
        limits.maxIngestBytes = 120_000
        let body = [UInt8](repeating: 1, count: 45_000)
        try await withServer(serverLimits: limits) { client in
            let isRefused = Atomic(false)
            while !isRefused.load(ordering: .relaxed) {
                try await RawConnection.open(port: client.port) { slow in
                    try await slow.send(
                        """
                        POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                        Content-Length: \(body.count)\r\n\r\n
                        """)
                    try await slow.send(Array(body.dropLast()))
                    // The slow request already has its memory, gets it in a moment, or was refused itself and makes room for
                    // another.
                    for _ in 0..<20 {
                        let refused = try await client.post(body)
                        guard refused.status == .tooManyRequests else { continue }
                        isRefused.store(true, ordering: .relaxed)
                        #expect(refused.headers[.retryAfter] == "1")
                        #expect(try !refused.reason.isEmpty)
                        try await slow.send([body[0]])
                        #expect(try await slow.answer()?.status == 400)
                        return
                    }
                }
            }
            #expect(try await client.post(body).status == .badRequest)
        }
    }

    /// Room for one request with this body, but not for two.
    private func room(for body: [UInt8]) throws -> ServerLimits {
        var most = 0
        _ = try Intake().metrics(body, encoding: .identity) { bytes throws(IntakeRejection) in most = max(most, bytes) }
        var limits = ServerLimits()
        limits.maxIngestBytes = most * 3 / 2
        return limits
    }

    @Test func headsWithoutBodiesReserveNoMemory() async throws {
        try await withServer { client in
            try await withStalledSenders(520, sending: [], port: client.port) {
                let response = try await client.post(try Samples.body())
                #expect(response.status == .ok)
            }
        }
    }

    @Test func bodyOverTheMemoryIs429AndASmallerOneIsTaken() async throws {
        var limits = ServerLimits()
        limits.maxIngestBytes = 10_000
        try await withServer(serverLimits: limits) { client in
            let large = [UInt8](repeating: 0, count: 10_001)
            for _ in 0..<3 {
                let refused = try await client.post(large)
                #expect(refused.status == .tooManyRequests)
            }
            #expect(try await client.post(try Samples.body()).status == .ok)
            #expect(try await client.count() == 5)
        }
    }

    @Test func stalledSendersOfLargeBodiesBlockNobody() async throws {
        try await withServer { client in
            try await withStalledSenders(3, sending: [0], port: client.port) {
                for _ in 0..<10 {
                    let response = try await client.post(try Samples.body())
                    #expect(response.status == .ok)
                }
            }
        }
    }

    private func withStalledSenders(
        _ count: Int, sending bytes: [UInt8], port: Int?, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        try await RawConnection.open(port: port) { connection in
            try await connection.send(
                """
                POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                Content-Length: \(64 * 1024 * 1024)\r\nExpect: 100-continue\r\n\r\n
                """)
            #expect(try await connection.answer()?.status == 100)
            try await connection.send(bytes)
            try await withStalledSenders(count - 1, sending: bytes, port: port, body)
        }
    }

    @Test func requestReleasesItsMemoryHoweverItEnds() async throws {
        var limits = ServerLimits()
        limits.maxIngestBytes = 130_000
        try await withServer(serverLimits: limits) { client in
            for _ in 0..<3 {
                #expect(try await client.post([UInt8](repeating: 1, count: 60_000)).status == .badRequest)
                #expect(try await client.post([UInt8](repeating: 1, count: 130_001)).status == .tooManyRequests)
                try await RawConnection.open(port: client.port) { connection in
                    try await connection.send(
                        """
                        POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                        Content-Length: 90000\r\nExpect: 100-continue\r\n\r\n
                        """)
                    #expect(try await connection.answer()?.status == 100)
                    try await connection.send([UInt8](repeating: 0, count: 60_000))
                }
                // The server notices after a while that the sender has left.
                var last = try await client.post(try Samples.body())
                while last.status == .tooManyRequests { last = try await client.post(try Samples.body()) }
                #expect(last.status == .ok)
            }
        }
    }

    @Test func requestThatWaitsForACommitKeepsItsMemory() async throws {
        let gate = Gate()
        let limits = try room(for: try Samples.body())
        try await withServer(serverLimits: limits, storage: { WaitingStorage(storage: $0, gate: gate) }) { client in
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await client.post(try Samples.body()).status.code }
                await gate.arrived()
                try await RawConnection.open(port: client.port) { connection in
                    try await connection.post(try Samples.body())
                    #expect(try await connection.answer()?.status == 429)
                }
                await gate.open()
                #expect(try await group.next() == 200)
            }
        }
    }
}

/// A store that commits when the gate opens.
private struct WaitingStorage: StorageWrapper {
    let storage: any Storage
    let gate: Gate

    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        await gate.pass()
        return try await storage.store(metrics, of: batch)
    }
}
