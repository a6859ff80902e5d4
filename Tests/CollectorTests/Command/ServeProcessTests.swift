import Fixtures
import Foundation
import Logging
import Testing

@testable import martlet_collector

/// `serve` as a process: its limits, its ports, its log, its signals and its service manager.
@Suite(.timeLimit(.minutes(2))) struct ServeProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var serve: [String] { ["serve", "--port", "0", "--store", "sqlite:" + folder.path("collector.sqlite")] }

    /// Starts the collector after a shell command, and returns it with its port.
    private func start(
        after command: String = "true", _ flags: [String] = [], environment: [String: String] = [:]
    ) async throws -> (process: ChildProcess, port: Int) {
        let shell = ChildProcess.Program(url: URL(fileURLWithPath: "/bin/sh"))
        let script = "\(command); exec \"$0\" \"$@\""
        let process = try ChildProcess(
            shell, ["-c", script, ChildProcess.Program.martletCollector.url.path] + serve + flags,
            environment: environment)
        return (process, try await port(process.readLine()))
    }

    private func port(_ line: String) throws -> Int {
        try #require(line.split(separator: ":").last.flatMap { Int($0) }, "\(line)")
    }

    /// Ends the collector and returns its log.
    private func log(of process: ChildProcess) async -> String {
        await process.stop(with: SIGTERM)
        return await process.finish().errors
    }

    private func post(
        _ body: [UInt8], token: String = "", type: String = "application/x-protobuf", port: Int
    ) async throws -> Int? {
        let (answers, answer) = AsyncStream.makeStream(of: Int?.self)
        try await RawConnection.open(port: port) { connection in
            try await connection.post(
                body, headers: ["Content-Type: \(type)", "Authorization: Bearer \(token)"])
            answer.yield(try await connection.answer()?.status)
        }
        return await answers.first { _ in true } ?? nil
    }

    @Test func openFileLimitIsRaised() async throws {
        let (process, port) = try await start(after: "ulimit -Sn 300")
        let limits = try String(contentsOfFile: "/proc/\(process.pid)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let columns = line.split(separator: " ")
        #expect(columns[3] == columns[4])
        #expect(try await RawConnection.get("/healthz", port: port)?.status == 200)
    }

    /// Ends the collector, and returns the line of its log about the limit of connections.
    private func connectionsLine(in process: ChildProcess) async -> Substring? {
        await log(of: process).split(separator: "\n").first {
            $0.contains("leaves room for fewer connections than --max-connections")
        }
    }

    @Test func fileLimitBelowTheRequestedConnectionsIsReported() async throws {
        let (process, _) = try await start(after: "ulimit -n 400", ["--max-connections", "50000"])
        let warning = try #require(await connectionsLine(in: process))
        #expect(warning.contains("warning"))
        #expect(warning.contains("144"))
        let (unasked, _) = try await start(after: "ulimit -n 400")
        #expect(try #require(await connectionsLine(in: unasked)).contains("info"))
        let (modest, _) = try await start(
            after: "ulimit -n 400", environment: ["MARTLET_COLLECTOR_MAX_CONNECTIONS": "144"])
        #expect(await !self.log(of: modest).contains("--max-connections"))
    }

    @Test func connectionsOverTheFileLimitLeaveFilesForTheCollector() async throws {
        let (process, port) = try await start(after: "ulimit -n 300")
        try await RawConnection.open(port: port) { reader in
            try await reader.post(try Samples.body())
            #expect(try await reader.answer()?.status == 200)
            let clients = try await holdConnections(400, port: port)
            try await reader.send("GET /metrics HTTP/1.0\r\n\r\n")
            // The collector opens a file for this figure.
            #expect(try await reader.rest().contains("\nprocess_open_fds "))
            await clients.stop(with: SIGKILL)
        }
        #expect(try await RawConnection.get("/healthz", port: port)?.status == 200)
        #expect(await process.stop(with: SIGTERM) == 0)
    }

    @Test func overAThousandIdleConnectionsKeepNobodyOut() async throws {
        let (process, port) = try await start()
        let clients = [try await holdConnections(900, port: port), try await holdConnections(900, port: port)]
        #expect(try await RawConnection.get("/healthz", port: port)?.status == 200)
        for client in clients { await client.stop(with: SIGKILL) }
        #expect(await process.stop(with: SIGTERM) == 0)
    }

    /// Returns a process that holds connections until it is killed.
    private func holdConnections(_ count: Int, port: Int) async throws -> ChildProcess {
        let script = """
            import signal, socket, sys
            held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(int(sys.argv[2]))]
            print("open", flush=True)
            signal.pause()
            """
        let env = ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env"))
        let process = try ChildProcess(
            env, ["python3", "-c", script, "\(port)", "\(count)"], environment: ["PATH": "/usr/bin:/bin"])
        #expect(await process.readLine() == "open")
        return process
    }

    @Test(arguments: [
        ["report", "--collector", "http://127.0.0.1:99999"], ["report", "--collector", "http://127.0.0.1:0"],
        ["report", "--collector", "http://127.0.0.1:18446744073709551616"],
        ["health"], ["serve"], ["migrate", "--store", "clickhouse:http://127.0.0.1:0/martlet"],
        ["report", "--store", "clickhouse:http://127.0.0.1:99999/martlet"],
        ["migrate", "--store", "clickhouse:http://127.0.0.1:99999/martlet"],
    ])
    func impossiblePortIsAnErrorInASentence(command: [String]) async throws {
        let result = try await ChildProcess(
            .martletCollector, command, environment: ["MARTLET_COLLECTOR_PORT": "99999"]
        ).finish()
        #expect(result.status == 64, "\(result)")
        #expect(result.errors.contains("must be"), "\(result.errors)")
    }

    /// Starts a collector with a port for health and metrics.
    private func startWithAdminPort(
        _ environment: [String: String] = [:]
    ) async throws -> (process: ChildProcess, main: Int, admin: Int) {
        let process = try ChildProcess(
            .martletCollector, serve, environment: environment.merging(["MARTLET_COLLECTOR_ADMIN_PORT": "0"]) { $1 })
        let lines = await [process.readLine(), process.readLine()]
        let main = try port(try #require(lines.first { $0.contains("listening on") }))
        let admin = try port(try #require(lines.first { $0.contains("health and metrics on") }))
        return (process, main, admin)
    }

    @Test func misspelledVariableIsReportedAtTheStart() throws {
        let environment = CollectorEnvironment([
            "MARTLET_COLLECTOR_MAX_DETIALS": "5", "MARTLET_COLLECTOR_PORT": "1", "PATH": "",
        ])
        #expect(environment.unknown == ["MARTLET_COLLECTOR_MAX_DETIALS"])
    }

    @Test func takenAdminPortIsNamedAndNothingIsCutOff() async throws {
        let (process, _, admin) = try await startWithAdminPort()
        let second = try await ChildProcess(
            .martletCollector, ["serve", "--port", "0", "--store", "sqlite:" + folder.path("other.sqlite")],
            environment: ["MARTLET_COLLECTOR_ADMIN_PORT": "\(admin)"]
        ).finish()
        #expect(second.status == 2)
        #expect(second.errors.contains("cannot serve at http://127.0.0.1:\(admin): "))
        #expect(!second.errors.contains("cutting off") && !second.output.contains("cutting off"))
        #expect(await process.stop(with: SIGTERM) == 0)
        let same = try await ChildProcess(
            .martletCollector, ["serve", "--port", "4320", "--admin-port", "4320"]
        ).finish()
        #expect(same.status == 64)
        #expect(same.errors.contains("--admin-port must differ from --port"))
    }

    @Test func adminPortServesOnlyHealthAndMetrics() async throws {
        let (process, main, admin) = try await startWithAdminPort()
        for path in ["/healthz", "/readyz", "/metrics"] {
            for port in [main, admin] { #expect(try await RawConnection.get(path, port: port)?.status == 200) }
        }
        for path in ["/", "/api/v1/report", "/v1/metrics"] {
            #expect(try await RawConnection.get(path, port: admin)?.status == 404)
        }
        #expect(await process.stop(with: SIGTERM) == 0)
    }

    @Test func adminPortNeedsTheReadTokenForMetricsButNotForHealth() async throws {
        let (process, _, admin) = try await startWithAdminPort(["MARTLET_COLLECTOR_READ_TOKEN": "may-read"])
        #expect(try await RawConnection.get("/metrics", port: admin)?.status == 401)
        let right = ["Authorization: Bearer may-read"]
        #expect(try await RawConnection.get("/metrics", headers: right, port: admin)?.status == 200)
        #expect(try await RawConnection.get("/readyz", port: admin)?.status == 200)
        // Nobody listens on this port: `health` queries the other one.
        let variables = ["MARTLET_COLLECTOR_PORT": "1", "MARTLET_COLLECTOR_ADMIN_PORT": "\(admin)"]
        #expect(try await ChildProcess(.martletCollector, ["health"], environment: variables).finish().status == 0)
        #expect(await process.stop(with: SIGTERM) == 0)
    }

    @Test(arguments: ["--host", "--store", "--ingest-token", "--tls-certificate", "--tls-key", "--log-level"])
    func emptyFlagIsAnError(flag: String) async throws {
        let result = try await ChildProcess(.martletCollector, serve + [flag, ""]).finish()
        #expect(result.status == 64)
        #expect(result.errors.contains("\(flag) must not be empty"))
    }

    /// A file that may not grow simulates a disk with a fault.
    @Test func unwritableStoreIsNotReady() async throws {
        let (process, port) = try await start(after: "trap '' XFSZ; ulimit -f 2000")
        var number = 0
        while try await post(try Samples.body(endpoint: "/\(number)"), port: port) == 200 { number += 1 }
        let answer = try await RawConnection.get("/readyz", port: port)
        #expect(answer?.status == 503)
        #expect(answer?.text.contains("the store cannot be written") == true)
        await process.stop(with: SIGTERM)
    }

    @Test func storeSizeWithoutRoomForAnythingIsAnError() async throws {
        let result = try await ChildProcess(.martletCollector, serve + ["--max-store", "10"]).finish()
        #expect(result.status == 64)
        #expect(result.errors.contains("--max-store must be 1MiB or more"))
    }

    @Test(arguments: [
        ("MARTLET_COLLECTOR_PORT", "-1"), ("MARTLET_COLLECTOR_MAX_STORE", "10"),
        ("MARTLET_COLLECTOR_RETENTION", "ten"), ("MARTLET_COLLECTOR_LOG_LEVEL", "loud"),
        ("MARTLET_COLLECTOR_INGEST_TOKEN", "a b"), ("MARTLET_COLLECTOR_READ_TOKEN", "ü"),
    ])
    func invalidVariableIsNamedInsteadOfItsFlag(name: String, value: String) async throws {
        let result = try await ChildProcess(
            .martletCollector, ["serve", "--store", "sqlite:" + folder.path("collector.sqlite")],
            environment: [name: value]
        ).finish()
        #expect(result.status == 64)
        #expect(result.errors.contains("Error: \(name) must "), "\(result.errors)")
    }

    @Test(arguments: ["--ingest-token", "--read-token"])
    func tokenThatNoHeaderFieldCanCarryIsRefused(flag: String) async throws {
        let file = folder.url.appendingPathComponent("tokens")
        try Data("good\na b\n".utf8).write(to: file)
        let flagged = try await ChildProcess(.martletCollector, serve + [flag, "a b"]).finish()
        #expect(flagged.status == 64)
        #expect(flagged.errors.contains("\(flag) must consist of ASCII characters without spaces"))
        let filed = try await ChildProcess(.martletCollector, serve + ["--ingest-token-file", file.path]).finish()
        #expect(filed.status == 2)
        #expect(filed.errors.contains("contains a token that is not made of ASCII characters without spaces"))
    }

    @Test func tokensAreReloadedAtSIGHUPAndKeptAfterAFault() async throws {
        let file = folder.url.appendingPathComponent("tokens")
        try Data("# rotation\n\nold\n new \n".utf8).write(to: file)
        let (process, port) = try await start(
            ["--ingest-token", "flag"], environment: ["MARTLET_COLLECTOR_INGEST_TOKEN_FILE": file.path])
        for token in ["old", "new", "flag"] {
            #expect(try await post(try Samples.body(), token: token, port: port) == 200)
        }
        #expect(try await post(try Samples.body(), token: "# rotation", port: port) == 401)
        try Data("new\n".utf8).write(to: file)
        kill(process.pid, SIGHUP)
        try await wait(for: "the end of the old token") {
            try await post(try Samples.body(), token: "old", port: port) != 200
        }
        #expect(try await post(try Samples.body(), token: "new", port: port) == 200)

        try Data("# none\n".utf8).write(to: file)
        kill(process.pid, SIGHUP)
        try await process.hasLogged("the ingest tokens could not be reloaded")
        #expect(try await post(try Samples.body(), token: "new", port: port) == 200)
        let log = await log(of: process)
        #expect(log.contains("the ingest tokens were reloaded"))
        #expect(log.contains("contains no token"))
        #expect(log.contains("reason=the ingest token is missing or wrong status=401"))
    }

    @Test func readTokensAreReloadedAtSIGHUPAndKeptAfterAFault() async throws {
        let file = folder.url.appendingPathComponent("readers")
        try Data("team old\nwall may-read read-only\n".utf8).write(to: file)
        let (process, port) = try await start(
            ["--read-token", "flag"], environment: ["MARTLET_COLLECTOR_READ_TOKEN_FILE": file.path])
        func status(_ token: String) async throws -> Int? {
            try await RawConnection.get(
                "/api/v1/agents", headers: ["Authorization: Bearer \(token)"], port: port)?.status
        }
        for token in ["old", "may-read", "flag"] { #expect(try await status(token) == 200) }
        try Data("team new\n".utf8).write(to: file)
        kill(process.pid, SIGHUP)
        try await wait(for: "the end of the old token") { try await status("old") == 401 }
        for token in ["new", "flag"] { #expect(try await status(token) == 200) }
        try Data("new\n".utf8).write(to: file)
        kill(process.pid, SIGHUP)
        try await process.hasLogged("the read tokens could not be reloaded")
        #expect(try await status("new") == 200)
        #expect(await log(of: process).contains("line 1 of"))
    }

    @Test func everyReloadedFileIsLogged() async throws {
        let file = folder.url.appendingPathComponent("tokens")
        try Data("old".utf8).write(to: file)
        let (process, port) = try await start(["--ingest-token-file", file.path])
        for token in ["new", "newer"] {
            try Data(token.utf8).write(to: file)
            kill(process.pid, SIGHUP)
            try await wait(for: "the token \(token)") { try await post([], token: token, port: port) == 200 }
        }
        #expect(await log(of: process).components(separatedBy: "the ingest tokens were reloaded").count == 3)
    }

    @Test func eachRefusalIsLoggedOnceAMinuteAsJSON() async throws {
        let (process, port) = try await start(environment: ["MARTLET_COLLECTOR_LOG_FORMAT": "json"])
        for _ in 0..<5 { #expect(try await post(Array("garbage".utf8), port: port) == 400) }
        #expect(try await post([], type: "text/plain", port: port) == 415)
        #expect(try await post(try Samples.body(endpoint: String(repeating: "x", count: 2000)), port: port) == 200)
        let lines = await log(of: process).split(separator: "\n").map {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(!lines.contains { $0 == nil })
        let refusals = lines.compactMap(\.self).filter { ($0["message"] as? String)?.contains("was refused") == true }
        let fields = refusals.compactMap { $0["fields"] as? [String: String] }
        #expect(fields.map { $0["status"] } == ["400", "415", "200"])
        #expect(fields.allSatisfy { $0["address"] == "127.0.0.1" && $0["reason"]?.isEmpty == false })
        #expect(refusals.allSatisfy { $0["level"] as? String == "notice" })
    }

    @Test func logLevelIsSelected() async throws {
        let (process, port) = try await start(["--log-level", "error"])
        #expect(try await post(Array("garbage".utf8), port: port) == 400)
        #expect(await log(of: process).isEmpty)
        let wrong = try await ChildProcess(.martletCollector, serve + ["--log-level", "loud"]).finish()
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("--log-level must be one of trace, debug"))
    }

    @Test func healthStatusShowsWhetherACollectorIsAlive() async throws {
        let (process, port) = try await start()
        let flags = ["health", "--collector", "http://127.0.0.1:\(port)"]
        #expect(try await ChildProcess(.martletCollector, flags).finish().status == 0)
        let variables = ["MARTLET_COLLECTOR_PORT": "\(port)", "MARTLET_COLLECTOR_HOST": "0.0.0.0"]
        #expect(try await ChildProcess(.martletCollector, ["health"], environment: variables).finish().status == 0)
        #expect(await process.stop(with: SIGTERM) == 0)
        let dead = try await ChildProcess(.martletCollector, flags).finish()
        #expect(dead.status == 1)
        #expect(dead.errors.contains("no collector answers"))
    }

    /// Starts a service manager that prints the messages it receives.
    private func startManager(at socket: String) async throws -> ChildProcess {
        let script = """
            import socket, sys
            manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            manager.bind(sys.argv[1])
            print("bound", flush=True)
            while True: print(manager.recv(100).decode(), flush=True)
            """
        let env = ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env"))
        let manager = try ChildProcess(env, ["python3", "-c", script, socket], environment: ["PATH": "/usr/bin:/bin"])
        #expect(await manager.readLine() == "bound")
        return manager
    }

    @Test func systemdIsNotifiedOfReadinessLifeAndStop() async throws {
        let socket = folder.path("notify")
        let manager = try await startManager(at: socket)
        let (process, _) = try await start(environment: ["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "200000"])
        var heard: Set<String> = []
        while heard != ["READY=1", "WATCHDOG=1"] { heard.insert(await manager.readLine()) }
        #expect(await process.stop(with: SIGTERM) == 0)
        while await manager.readLine() != "STOPPING=1" {}
    }

    @Test(arguments: [(1, "STOPPING=1"), (2, "READY=1")])
    func collectorIsReadyWhenAllItsAddressesAre(listening count: Int, first: String) async throws {
        let socket = folder.path("notify")
        let manager = try await startManager(at: socket)
        let (listening, began) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<count { began.yield() }
        began.finish()
        let systemd = ServiceManager(["NOTIFY_SOCKET": socket], logger: Logger(label: "test"))
        try await ReadinessNotifier(manager: systemd, listening: listening, addresses: 2).run()
        #expect(await manager.readLine() == first)
    }
}
