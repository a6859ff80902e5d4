import Fixtures
import Foundation
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import Testing

@Suite struct CollectorProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await ChildProcess(.martletCollector, arguments, environment: environment).finish()
    }

    private var store: String { folder.path("collector.sqlite") }

    /// Returns the report of everything since the time of the samples.
    private func report(_ source: [String]) async throws -> Report {
        let result = try await run(
            ["report", "--since", "2026-09-21T14:13:20Z", "--format", "json"] + source)
        return try ReportJSON.value(of: Report.self, in: Data(result.output.utf8))
    }

    @Test func acknowledgedBatchesSurviveSIGKILLAndCountOnce() async throws {
        let first = try await CollectorProcess(store: store)
        for sequence in 1...3 {
            #expect(try await first.post(try Samples.body(), batch: "i-1/\(sequence)/metrics") == 200)
        }
        await first.kill()
        #expect(try await report(["--store", "sqlite:" + store]).totals.measures.count == 15)

        let second = try await CollectorProcess(store: store)
        #expect(try await second.post(try Samples.body(), batch: "i-1/3/metrics") == 200)
        #expect(try await second.post(try Samples.body(), batch: "i-1/4/metrics") == 200)
        #expect(try await report(["--collector", second.address]).totals.measures.count == 20)
    }

    @Test func sameBatchOnManyConnectionsAtOnceCountsOnce() async throws {
        let collector = try await CollectorProcess(store: store)
        let body = try Samples.body()
        for sequence in 1...20 {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 {
                    group.addTask { try await collector.post(body, batch: "i-1/\(sequence)/metrics") }
                }
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(try await report(["--collector", collector.address]).totals.measures.count == 100)
    }

    @Test func reportIsTheSameFromTheCollectorAndFromItsFile() async throws {
        let collector = try await CollectorProcess(store: store)
        #expect(try await collector.post(try Samples.body(), batch: "i-1/1/metrics") == 200)
        // The window has whole hours, because points of this age are kept by the hour.
        let window = ["--since", "2026-09-21T14:00:00Z", "--until", "2026-09-21T15:00:00Z"]
        for format in ["table", "json"] {
            let flags = ["report", "--format", format, "--endpoint", "/users/{id}", "--by", "endpoint"] + window
            let asked = try await run(flags + ["--collector", collector.address])
            let read = try await run(flags + ["--store", "sqlite:" + store])
            #expect(asked.status == 0)
            // The last line of a table names the source of the answer.
            #expect(figures(asked.output) == figures(read.output))
            #expect(asked.output.contains("/users/{id}"))
        }
        let agents = try await run(["agents", "--collector", collector.address])
        #expect(agents.output.contains("checkout"))
    }

    private func figures(_ output: String) -> [Substring] {
        output.split(separator: "\n").filter { !$0.hasPrefix("See them:") }
    }

    @Test func agentsOfTheLastDayAreListedByDefault() async throws {
        let twoDaysAgo = SystemClock.now() - 2 * 86_400_000_000_000
        let storage = try SQLiteStorage(path: store, now: { twoDaysAgo })
        _ = try await storage.store([Samples.metrics(end: 10)], of: nil)
        try storage.close()
        let collector = try await CollectorProcess(store: store)
        for source in [["--collector", collector.address], ["--store", "sqlite:" + store]] {
            let lately = try await run(["agents"] + source)
            #expect(lately.status == 0)
            #expect(lately.output.hasPrefix("No agent has sent anything since 2"))
            #expect(lately.output.contains("from checkout (i-1):\n  martlet-collector agents --since 2"))
            let proposed = try #require(lately.output.split(separator: "\n").last).split(separator: " ").dropFirst()
            let more = try await run(proposed.map(String.init))
            #expect(more.output.contains("checkout"))
        }
    }

    @Test(arguments: [
        ("yes", 0, "deleted 0 kept requests"), ("no", 0, "Nothing was deleted"), ("", 1, "--yes deletes"),
    ])
    func requestsAreClearedOnlyAfterYes(answer: String, status: Int32, says: String) async throws {
        let collector = try await CollectorProcess(store: store)
        let shell = ChildProcess.Program(url: URL(fileURLWithPath: "/bin/sh"))
        let command = [ChildProcess.Program.martletCollector.url.path, "requests", "clear"]
        let script = answer.isEmpty ? "exec \"$@\" < /dev/null" : "echo \(answer) | \"$@\""
        let result = try await ChildProcess(
            shell, ["-c", script, "sh"] + command + ["--collector", collector.address]
        ).finish()
        #expect(result.status == status)
        #expect((result.output + result.errors).contains(says))
    }

    @Test func emptyListOfAgentsSaysWhatToDo() async throws {
        let collector = try await CollectorProcess(store: store)
        for (source, setting) in [
            (["--collector", collector.address], "this collector with MARTLET_ENDPOINT=\(collector.address)"),
            (["--store", "sqlite:" + store], "the address in MARTLET_ENDPOINT"),
        ] {
            let agents = try await run(["agents"] + source)
            let nobody = "No agents have reported yet. A service reports to \(setting)."
            #expect(agents.output == nobody + " Agents report every 10 s.\n")
        }
    }

    @Test func silentServiceDiffersFromAFilterThatMatchesNothing() async throws {
        let now = SystemClock.now()
        for (service, age) in [("payments", 40 * 60), ("catalog", 0)] as [(String, UInt64)] {
            let time = now - age * 1_000_000_000
            let storage = try SQLiteStorage(path: store, now: { time })
            let point = RequestPoint(
                dimensions: Samples.dimensions(), start: time - 10_000_000_000, end: time,
                statistics: Samples.statistics([0.1]))
            let metrics = InstanceMetrics(resource: Samples.resource(service, instance: service), points: [point])
            _ = try await storage.store([metrics], of: nil)
            try storage.close()
        }
        let collector = try await CollectorProcess(store: store)
        for source in [["--collector", collector.address], ["--store", "sqlite:" + store]] {
            for command in ["report", "requests", "map"] {
                let silent = try await run([command, "--service", "payments", "--since", "5m"] + source)
                #expect(
                    silent.output.contains("Nothing came from --service payments in the last 5 min. The latest came at")
                )
                // The store need not keep the counted requests.
                let next = command == "requests" ? "report" : command
                #expect(silent.output.contains("from payments (payments):\n  martlet-collector \(next) --since 2"))
            }
            let misspelt = try await run(["requests", "--service", "payment"] + source)
            #expect(
                misspelt.output.hasPrefix(
                    "No service is called payment. There are catalog and payments; nearest: payments"))
            let map = try await run(["map", "--service", "payment"] + source)
            let corrected = "martlet-collector map --service payments " + source.joined(separator: " ")
            #expect(map.output.hasSuffix("nearest: payments\n  \(corrected)\n"))
            let edges = try await run(["map", "--service", "catalog"] + source)
            #expect(edges.output.contains("No request is known to be lost."))
            let counted = try await run(["requests", "--service", "catalog"] + source)
            #expect(counted.output.hasPrefix("1 request was counted between "))
            let agents = try await run(["agents", "--service", "payment"] + source)
            #expect(
                agents.output.hasPrefix(
                    "No service is called payment. There are catalog and payments; nearest: payments"))
            let pair = try await run(["agents", "--service", "payments", "--instance", "catalog"] + source)
            #expect(
                pair.output.hasPrefix("No instance of the chosen senders is called catalog. There is payments"))
        }
    }

    @Test func noNameIsCalledUnknownIfNotAllAreListed() async throws {
        let storage = try SQLiteStorage(path: store)
        let time = SystemClock.now()
        // The collector lists 1,000 values.
        let points = (0...1000).map { number in
            RequestPoint(
                dimensions: Samples.dimensions(endpoint: "/e\(number)"), start: time - 10_000_000_000, end: time,
                statistics: Samples.statistics([0.1]))
        }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
        try storage.close()
        let names = ["--endpoint", "/e1", "--endpoint", "/f", "--store", "sqlite:" + store]
        let report = try await run(["report"] + names)
        #expect(report.output.contains("/e1"), "\(report.output)")
        #expect(!report.output.contains(" is called "), "\(report.output)")
    }

    @Test func sigtermEndsTheCollectorWithTheStoreInOneFile() async throws {
        let collector = try await CollectorProcess(store: store)
        #expect(try await collector.post(try Samples.body(), batch: "i-1/1/metrics") == 200)
        #expect(await collector.terminate() == 0)
        let log = try? Data(contentsOf: URL(fileURLWithPath: store + "-wal"))
        #expect(log?.isEmpty ?? true)
        #expect(try await report(["--store", "sqlite:" + store]).totals.measures.count == 5)
    }

    @Test func readTokenComesFromTheEnvironment() async throws {
        let collector = try await CollectorProcess(
            store: store, environment: ["MARTLET_COLLECTOR_READ_TOKEN": "s3cret"])
        let flags = ["agents", "--collector", collector.address]
        let refused = try await run(flags)
        #expect(refused.status == 2)
        #expect(refused.errors.contains("401"))
        let taken = try await run(flags, environment: ["MARTLET_COLLECTOR_READ_TOKEN": "s3cret"])
        #expect(taken.status == 0)
        let wrong = try await run(flags + ["--read-token", "wr0ng"])
        #expect(wrong.status == 2)
        #expect(!(wrong.output + wrong.errors).contains("wr0ng"))
    }

    @Test func unreachableCollectorIsReportedInASentence() async throws {
        let result = try await run(["report", "--collector", "http://127.0.0.1:1"])
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("no collector answers at http://127.0.0.1:1"))
    }

    @Test func failedWriteIsReportedInASentence() async throws {
        try SQLiteStorage(path: store).close()
        for command in [["report"], ["report", "--format", "json"], ["agents"], ["agents", "--format", "json"]] {
            let result = try await run(command, writingTo: "/dev/full")
            #expect(result.status == 2)
            #expect(result.errors == "martlet-collector: cannot write to standard output: No space left on device\n")
        }
    }

    /// The reader leaves as `head` does in a pipe. The script ignores SIGPIPE, so the write fails with an error.
    @Test func readerThatHasLeftIsNoError() async throws {
        try SQLiteStorage(path: store).close()
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        // File 3 opens the pipe for reading and writing, so that neither end waits for the other.
        let script = "exec 3<>\"$0\" 4>\"$0\" 3<&-; trap '' PIPE; exec \"$@\" >&4"
        let result = try await shell(script, [pipe], ["report"])
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
    }

    private func run(
        _ command: [String], writingTo path: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await shell("exec \"$@\" > \"$0\"", [path], command)
    }

    /// Runs a script with `arguments` as `$0` and following, then the collector's command.
    private func shell(
        _ script: String, _ arguments: [String], _ command: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let collector = [ChildProcess.Program.martletCollector.url.path] + command + ["--store", "sqlite:" + store]
        let shell = ChildProcess.Program(url: URL(fileURLWithPath: "/bin/sh"))
        return try await ChildProcess(shell, ["-c", script] + arguments + collector).finish()
    }

    @Test func invalidFlagIsReportedInASentence() async throws {
        for flags in [["--sort", "colour"], ["--since", "someday"], ["--top", "0"], ["--store", "oracle:x"]] {
            let result = try await run(["report"] + flags)
            #expect(result.status == 64)
            #expect(!result.errors.isEmpty)
        }
    }

    @Test func requestThatIsNotKeptGivesOneSentenceAndStatus1() async throws {
        let collector = try await CollectorProcess(store: store)
        let sources = [["--store", "sqlite:" + store], ["--collector", collector.address]]
        for source in sources {
            for command in [["requests", "show", "zzz"], ["requests", "--before", "zzz"]] {
                let result = try await run(command + source)
                #expect(result.status == 1)
                #expect(result.output.isEmpty)
                #expect(result.errors == "martlet-collector: no request with this id is kept\n")
            }
        }
        #expect(await collector.terminate() == 0)
    }

    @Test func collectorWithoutTokensListensOnlyOnLoopback() async throws {
        let result = try await run(["serve", "--host", "0.0.0.0", "--store", "sqlite:" + store])
        #expect(result.status == 64)
        #expect(result.errors.contains("--ingest-token"))
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func fileThatIsNoStoreIsReportedInASentence() async throws {
        try Data("dear diary".utf8).write(to: URL(fileURLWithPath: store))
        let result = try await run(["serve", "--port", "0", "--store", "sqlite:" + store])
        #expect(result.status == 2)
        #expect(result.errors.contains("not a database"))
    }
}
