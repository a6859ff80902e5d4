import Fixtures
import Hummingbird
import HummingbirdTesting
import Logging
import MartletSQLiteStorage
import MartletServer
import MartletTelemetry
import Testing

/// Time-outs of clients that leave a connection idle, or that send or read too slowly.
@Suite(.timeLimit(.minutes(2))) struct ConnectionLimitTests {
    @Test func silentConnectionIsClosed() async throws {
        var limits = ServerLimits()
        limits.idleTimeout = .milliseconds(50)
        try await withServer(serverLimits: limits) { client in
            try await RawConnection.open(port: client.port) { #expect(await $0.isClosed()) }
        }
    }

    @Test func endlessHeadIsCutOffHoweverSlowlyItComes() async throws {
        var limits = ServerLimits()
        limits.idleTimeout = .milliseconds(100)
        try await withServer(serverLimits: limits) { client in
            try await RawConnection.open(port: client.port) { connection in
                await #expect(throws: (any Error).self) {
                    try await connection.send("POST /v1/metrics HTTP/1.1\r\n")
                    while true { try await connection.drip("x") }
                }
            }
        }
    }

    @Test func stalledBodyIsCutOff() async throws {
        var limits = ServerLimits()
        limits.idleTimeout = .milliseconds(50)
        try await withServer(serverLimits: limits) { client in
            try await RawConnection.open(port: client.port) { connection in
                // On a slow machine the connection may be closed before this.
                try? await connection.send(
                    """
                    POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                    Content-Length: 100000\r\n\r\nbegun
                    """)
                #expect(await connection.isClosed())
            }
        }
    }

    @Test func bodyThatNeverBeginsHasTheBodyTimeout() async throws {
        var limits = ServerLimits()
        limits.idleTimeout = .seconds(3600)
        limits.bodyTimeout = .milliseconds(50)
        try await withServer(serverLimits: limits) { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(
                    """
                    POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                    Content-Length: 100000\r\n\r\n
                    """)
                #expect(await connection.isClosed())
            }
        }
    }

    @Test func bodyThatTakesTooLongIsCutOffHoweverSteadilyItComes() async throws {
        var limits = ServerLimits()
        limits.bodyTimeout = .milliseconds(100)
        try await withServer(serverLimits: limits) { client in
            try await RawConnection.open(port: client.port) { connection in
                await #expect(throws: (any Error).self) {
                    try await connection.send(
                        """
                        POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                        Transfer-Encoding: chunked\r\n\r\n
                        """)
                    while true { try await connection.drip("1\r\n\0\r\n") }
                }
            }
            #expect(try await client.post(try Samples.body()).status == .ok)
        }
    }

    @Test func connectionOutlivesTheBodyTimeout() async throws {
        var limits = ServerLimits()
        let timeout = Duration.seconds(3)
        limits.bodyTimeout = timeout
        try await withServer(serverLimits: limits) { client in
            try await RawConnection.open(port: client.port) { connection in
                let end = ContinuousClock.now + timeout + .milliseconds(200)
                while ContinuousClock.now < end {
                    try await connection.post(try Samples.body())
                    #expect(try await connection.answer()?.status == 200)
                    try await Task.sleep(for: .milliseconds(400))
                }
            }
        }
    }

    @Test func bodyTimeoutEndsWithTheBody() async throws {
        var limits = ServerLimits()
        limits.bodyTimeout = .zero
        try await withServer(serverLimits: limits) { client in
            try await RawConnection.open(port: client.port) { connection in
                for _ in 1...2 {
                    try await connection.send("GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
                    #expect(try await connection.answer()?.status == 200)
                }
            }
        }
    }

    @Test func unreadAnswersAreCutOff() async throws {
        var limits = ServerLimits()
        limits.answerTimeout = .milliseconds(100)
        try await withServer(serverLimits: limits) { client in
            try await RawConnection.open(port: client.port) { connection in
                await #expect(throws: (any Error).self) {
                    let requests = String(repeating: "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n", count: 100)
                    while true { try await connection.send(requests) }
                }
            }
            #expect(try await client.get("/healthz").status == .ok)
        }
    }

    @Test func slowReaderGetsEveryAnswer() async throws {
        var limits = ServerLimits()
        limits.answerTimeout = .seconds(3)
        let series = (0..<1000).map { (Samples.dimensions(endpoint: "/\($0)"), Samples.statistics([1])) }
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
            series: Dictionary(uniqueKeysWithValues: series), ledger: Ledger(captured: 1000, waiting: 1000))
        try await withServer(serverLimits: limits) { client in
            #expect(try await client.post(try batch.otlp()).status == .ok)
            try await RawConnection.open(port: client.port) { connection in
                let request = "GET /api/v1/report?since=1h HTTP/1.1\r\nHost: test\r\n\r\n"
                try await connection.send(String(repeating: request, count: 20))
                for _ in 0..<20 {
                    try await Task.sleep(for: .milliseconds(200))
                    let answer = try #require(try await connection.answer())
                    #expect(answer.body.count > 100_000)
                }
            }
        }
    }

    @Test(arguments: [
        "X: \(String(repeating: "x", count: 40_000))",
        (0..<200).map { "X-\($0): y" }.joined(separator: "\r\n"),
        (0..<90).map { "X-\($0): \(String(repeating: "y", count: 500))" }.joined(separator: "\r\n"),
    ])
    func headersOverTheLimitAre431AndTheConnectionIsClosed(headers: String) async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send("GET /healthz HTTP/1.1\r\nHost: test\r\n\(headers)\r\n\r\n")
                let answer = try await connection.answer()
                #expect(answer?.status == 431)
                #expect(answer?.text == "the request's target and header fields are too long or too many\n")
                #expect(answer?.headers["connection"] == "close")
            }
            #expect(try await client.get("/healthz").status == .ok)
        }
    }

    @Test func targetOverTheLimitIs431() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(
                    "GET /api/v1/report?service=\(String(repeating: "x", count: 40_000)) HTTP/1.1\r\nHost: test\r\n\r\n"
                )
                #expect(try await connection.answer()?.status == 431)
            }
        }
    }

    @Test func connectionsOverTheLimitWaitUntilOneIsClosed() async throws {
        var limits = ServerLimits()
        limits.maxConnections = 1
        try await withListeningServer(limits: limits) { port in
            let (served, serve) = AsyncStream.makeStream(of: String.self)
            let (opened, isOpen) = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await RawConnection.open(port: port) { first in
                        for _ in 0..<50 {
                            try await first.post([])
                            #expect(try await first.answer()?.status == 200)
                            isOpen.yield()
                        }
                        serve.yield("first")
                    }
                }
                for await _ in opened { break }
                try await RawConnection.open(port: port) { second in
                    try await second.post([])
                    #expect(try await second.answer()?.status == 200)
                    serve.yield("second")
                }
                try await group.waitForAll()
            }
            serve.finish()
            #expect(await served.reduce(into: []) { $0.append($1) } == ["first", "second"])
        }
    }

    @Test func connectionsWithoutATokenReplaceEachOtherAndNotSenders() async throws {
        var limits = ServerLimits()
        limits.maxUnauthenticatedConnections = 2
        limits.idleTimeout = .seconds(3600)
        try await withListeningServer(limits: limits, tokens: Self.tokens) { port in
            try await RawConnection.open(port: port) { sender in
                try await sender.post([], headers: ["Authorization: Bearer may-send"])
                #expect(try await sender.answer()?.status == 200)
                try await RawConnection.open(port: port) { oldest in
                    try await oldest.askForHealth()
                    for _ in 0..<2 { #expect(try await RawConnection.get("/healthz", port: port)?.status == 200) }
                    try await withOpen(2, port: port) {}
                    #expect(await oldest.isClosed())
                }
                try await sender.post([], headers: ["Authorization: Bearer may-send"])
                #expect(try await sender.answer()?.status == 200)
            }
        }
    }

    @Test func connectionsWithoutATokenTakeAtMostHalfOfTheLimit() async throws {
        var limits = ServerLimits()
        limits.maxConnections = 4
        limits.idleTimeout = .seconds(3600)
        try await withListeningServer(limits: limits, tokens: Self.tokens) { port in
            try await RawConnection.open(port: port) { oldest in
                try await oldest.askForHealth()
                try await withOpen(2, port: port) {}
                #expect(await oldest.isClosed())
            }
        }
    }

    @Test func noConnectionIsReplacedIfNoTokenIsNeeded() async throws {
        var limits = ServerLimits()
        limits.maxUnauthenticatedConnections = 1
        try await withListeningServer(limits: limits, tokens: ServerTokens(read: "may-read")) { port in
            try await RawConnection.open(port: port) { sender in
                try await sender.post([])
                #expect(try await sender.answer()?.status == 200)
                try await withOpen(2, port: port) {}
                try await sender.post([])
                #expect(try await sender.answer()?.status == 200)
            }
        }
    }

    @Test(arguments: ["Authorization: Bearer may-read", nil]) func readerThatShowedItsTokenOrSessionStays(
        token: String?
    ) async throws {
        var limits = ServerLimits()
        limits.maxUnauthenticatedConnections = 1
        try await withListeningServer(limits: limits, tokens: Self.tokens) { port in
            let right = if let token { token } else { try await session(port: port) }
            let request = "HEAD / HTTP/1.1\r\nHost: test\r\n\(right)\r\n\r\n"
            try await RawConnection.open(port: port) { reader in
                try await reader.send(request)
                #expect(try await reader.answer(toHead: true)?.status == 200)
                try await withOpen(2, port: port) {}
                try await reader.send(request)
                #expect(try await reader.answer(toHead: true)?.status == 200)
            }
        }
    }

    @Test func adminPortHasItsOwnConnectionLimit() async throws {
        var limits = ServerLimits()
        limits.maxAdminConnections = 2
        limits.idleTimeout = .seconds(3600)
        try await withListeningServer(limits: limits, atAdminPort: true) { port in
            try await RawConnection.open(port: port) { oldest in
                try await oldest.askForHealth()
                try await withOpen(2, port: port) {}
                #expect(await oldest.isClosed())
            }
        }
    }

    private static var tokens: ServerTokens { ServerTokens(ingest: "may-send", read: "may-read") }

    /// Returns the header field with the cookie of a new session.
    private func session(port: Int) async throws -> String {
        let (cookies, cookie) = AsyncStream.makeStream(of: String.self)
        try await RawConnection.open(port: port) { browser in
            let form = ["Content-Type: application/x-www-form-urlencoded"]
            try await browser.post(Array("token=may-read".utf8), to: "/login", headers: form)
            let given = try #require(try await browser.answer()?.headers["set-cookie"])
            cookie.yield("Cookie: " + given.prefix { $0 != ";" })
        }
        return try #require(await cookies.first { _ in true })
    }

    /// Opens connections that ask for health and stay open.
    private func withOpen(_ count: Int, port: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
        guard count > 0 else { return try await body() }
        try await RawConnection.open(port: port) { connection in
            try await connection.askForHealth()
            try await withOpen(count - 1, port: port, body)
        }
    }

    /// Runs a server without Hummingbird's test client, because that client holds a connection and its server has no limit of
    /// connections.
    private func withListeningServer(
        limits: ServerLimits, tokens: ServerTokens = ServerTokens(), atAdminPort: Bool = false,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let server = CollectorServer(
            storage: try SQLiteStorage(path: folder.path("collector.sqlite")), tokens: tokens, limits: limits,
            now: { Samples.time(60) }, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let address = ListenAddress(host: "127.0.0.1", port: 0)
        let application = try server.application(at: address) { port.yield($0) }
        let admin = try server.adminService(at: address) { port.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { atAdminPort ? try await admin.run() : try await application.run() }
            for await port in ports {
                try await body(port)
                break
            }
            group.cancelAll()
        }
    }
}

extension RawConnection {
    /// Sends a request without a token. The answer shows that the server has accepted the connection.
    fileprivate mutating func askForHealth() async throws {
        try await send("GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(try await answer()?.status == 200)
    }
}
