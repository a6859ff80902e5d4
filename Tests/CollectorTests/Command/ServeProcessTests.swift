import Fixtures
import Foundation
import Testing

/// `serve` as a process: its limits, its ports, its log, its signals and its service manager.
@Suite(.timeLimit(.minutes(2))) struct ServeProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var serve: [String] { ["serve", "--port", "0", "--store", "sqlite:" + folder.path("collector.sqlite")] }

    /// Starts the collector behind a shell's command, and returns it with its port.
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

    private func post(_ body: [UInt8], token: String, port: Int) async throws -> Int? {
        let (answers, answer) = AsyncStream.makeStream(of: Int?.self)
        try await RawConnection.open(port: port) { connection in
            try await connection.post(body, headers: ["Authorization: Bearer \(token)"])
            answer.yield(try await connection.answer()?.status)
        }
        return await answers.first { _ in true } ?? nil
    }

    @Test func theLimitOfOpenFilesIsRaised() async throws {
        let (process, port) = try await start(after: "ulimit -Sn 300")
        let limits = try String(contentsOfFile: "/proc/\(process.pid)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let columns = line.split(separator: " ")
        #expect(columns[3] == columns[4])
        #expect(try await RawConnection.get("/healthz", port: port)?.status == 200)
    }

    @Test func aLimitBelowTheConnectionsAskedForIsTold() async throws {
        let (process, _) = try await start(after: "ulimit -n 400")
        let log = await log(of: process)
        #expect(log.contains("leaves room for fewer connections than --max-connections"))
        #expect(log.contains("144"))
    }

    @Test func moreThanAThousandIdleConnectionsKeepNobodyOut() async throws {
        let (process, port) = try await start()
        let script = """
            import socket, sys
            held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(900)]
            print("open", flush=True)
            sys.stdin.read()
            """
        let env = ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env"))
        let clients = try (0..<2).map { _ in
            try ChildProcess(env, ["python3", "-c", script, "\(port)"], environment: ["PATH": "/usr/bin:/bin"])
        }
        for client in clients { #expect(await client.readLine() == "open") }
        #expect(try await RawConnection.get("/healthz", port: port)?.status == 200)
        for client in clients { await client.stop(with: SIGKILL) }
        #expect(await process.stop(with: SIGTERM) == 0)
    }

    @Test func theAdminPortHasHealthAndMetricsAlone() async throws {
        let process = try ChildProcess(.martletCollector, serve + ["--admin-port", "0"])
        let lines = await [process.readLine(), process.readLine()]
        let main = try port(try #require(lines.first { $0.contains("listening on") }))
        let admin = try port(try #require(lines.first { $0.contains("health and metrics on") }))
        for path in ["/healthz", "/readyz", "/metrics"] {
            for port in [main, admin] { #expect(try await RawConnection.get(path, port: port)?.status == 200) }
        }
        for path in ["/", "/api/v1/report", "/v1/metrics"] {
            #expect(try await RawConnection.get(path, port: admin)?.status == 404)
        }
        #expect(await process.stop(with: SIGTERM) == 0)
    }

    @Test(arguments: ["--host", "--store", "--ingest-token", "--tls-certificate", "--tls-key", "--log-level"])
    func anEmptyFlagIsAnError(flag: String) async throws {
        let result = try await ChildProcess(.martletCollector, serve + [flag, ""]).finish()
        #expect(result.status == 64)
        #expect(result.errors.contains("\(flag) must not be empty"))
    }

    @Test func tokensAreReadAgainAtSIGHUPAndAFaultKeepsThem() async throws {
        let file = folder.url.appendingPathComponent("tokens")
        try Data("# rotation\n\nold\n new \n".utf8).write(to: file)
        let (process, port) = try await start(["--ingest-token-file", file.path, "--ingest-token", "flag"])
        for token in ["old", "new", "flag"] {
            #expect(try await post(try Samples.body(), token: token, port: port) == 200)
        }
        try Data("new\n".utf8).write(to: file)
        kill(process.pid, SIGHUP)
        while try await post(try Samples.body(), token: "old", port: port) == 200 {}
        #expect(try await post(try Samples.body(), token: "new", port: port) == 200)

        try Data("# none\n".utf8).write(to: file)
        kill(process.pid, SIGHUP)
        #expect(try await post(try Samples.body(), token: "new", port: port) == 200)
        // The log is whole once the process has ended.
        try await Task.sleep(for: .seconds(1))
        let log = await log(of: process)
        #expect(log.contains("the ingest tokens were read again"))
        #expect(log.contains("the ingest tokens stay as they were"))
        #expect(log.contains("holds no token"))
    }

    @Test func aRefusalIsLoggedOnceAMinuteAsJSON() async throws {
        let (process, port) = try await start(["--log-format", "json"])
        for _ in 0..<5 { #expect(try await post(Array("garbage".utf8), token: "", port: port) == 400) }
        let lines = await log(of: process).split(separator: "\n").map {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(!lines.contains { $0 == nil })
        let refusals = lines.compactMap(\.self).filter { ($0["message"] as? String)?.contains("was refused") == true }
        #expect(refusals.count == 1)
        let fields = refusals.first?["fields"] as? [String: String]
        #expect(fields?["status"] == "400")
        #expect(fields?["address"] == "127.0.0.1")
        #expect(refusals.first?["level"] as? String == "notice")
    }

    @Test func theLeastLevelOfTheLogIsChosen() async throws {
        let (process, port) = try await start(["--log-level", "error"])
        #expect(try await post(Array("garbage".utf8), token: "", port: port) == 400)
        #expect(await log(of: process).isEmpty)
        let wrong = try await ChildProcess(.martletCollector, serve + ["--log-level", "loud"]).finish()
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("--log-level must be one of trace, debug"))
    }

    @Test func healthTellsByItsStatusWhetherACollectorLives() async throws {
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

    @Test func systemdIsToldOfReadinessLifeAndTheEnd() async throws {
        let script = """
            import socket, sys
            manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            manager.bind(sys.argv[1])
            print("bound", flush=True)
            while True: print(manager.recv(100).decode(), flush=True)
            """
        let socket = folder.path("notify")
        let env = ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env"))
        let manager = try ChildProcess(
            env, ["python3", "-c", script, socket], environment: ["PATH": "/usr/bin:/bin"])
        #expect(await manager.readLine() == "bound")
        let (process, _) = try await start(environment: ["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "200000"])
        var heard: Set<String> = []
        while heard != ["READY=1", "WATCHDOG=1"] { heard.insert(await manager.readLine()) }
        #expect(await process.stop(with: SIGTERM) == 0)
        while await manager.readLine() != "STOPPING=1" {}
    }
}
