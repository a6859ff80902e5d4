import Foundation
import MartletReports
import Testing

@Suite struct CollectorProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var store: String { folder.path("collector.sqlite") }

    /// Everything since the time of the samples.
    private func report(_ source: [String]) throws -> Report {
        let result = try CollectorProgram.run(
            ["report", "--since", "2026-09-21T14:13:20Z", "--format", "json"] + source)
        return try ReportJSON.value(of: Report.self, in: Data(result.output.utf8))
    }

    @Test func whatWasAcknowledgedSurvivesSIGKILLAndCountsOnce() async throws {
        let first = try CollectorProcess(store: store)
        for sequence in 1...3 {
            #expect(try await first.post(try Samples.body(), batch: "i-1/\(sequence)/metrics") == 200)
        }
        first.kill()
        #expect(try report(["--store", "sqlite:" + store]).totals.measures.count == 15)

        let second = try CollectorProcess(store: store)
        #expect(try await second.post(try Samples.body(), batch: "i-1/3/metrics") == 200)
        #expect(try await second.post(try Samples.body(), batch: "i-1/4/metrics") == 200)
        #expect(try report(["--collector", second.address]).totals.measures.count == 20)
    }

    @Test func theReportIsTheSameFromTheCollectorAndFromItsFile() async throws {
        let collector = try CollectorProcess(store: store)
        #expect(try await collector.post(try Samples.body(), batch: "i-1/1/metrics") == 200)
        let window = ["--since", "2026-09-21T14:13:20Z", "--until", "2026-09-21T14:14:20Z"]
        for format in ["table", "json"] {
            let flags = ["report", "--format", format, "--endpoint", "/users/{id}", "--by", "endpoint"] + window
            let asked = try CollectorProgram.run(flags + ["--collector", collector.address])
            let read = try CollectorProgram.run(flags + ["--store", "sqlite:" + store])
            #expect(asked.status == 0)
            #expect(asked.output == read.output)
            #expect(asked.output.contains("/users/{id}"))
        }
        let agents = try CollectorProgram.run(["agents", "--collector", collector.address])
        #expect(agents.output.contains("checkout"))
    }

    @Test func sigtermEndsItWithTheStoreInOneFile() async throws {
        let collector = try CollectorProcess(store: store)
        #expect(try await collector.post(try Samples.body(), batch: "i-1/1/metrics") == 200)
        #expect(collector.terminate() == 0)
        let log = try? Data(contentsOf: URL(fileURLWithPath: store + "-wal"))
        #expect(log?.isEmpty ?? true)
        #expect(try report(["--store", "sqlite:" + store]).totals.measures.count == 5)
    }

    @Test func theReadTokenComesFromTheEnvironment() async throws {
        let collector = try CollectorProcess(
            store: store, environment: ["MARTLET_COLLECTOR_READ_TOKEN": "s3cret"])
        let flags = ["agents", "--collector", collector.address]
        let refused = try CollectorProgram.run(flags)
        #expect(refused.status == 2)
        #expect(refused.errors.contains("401"))
        let taken = try CollectorProgram.run(flags, environment: ["MARTLET_COLLECTOR_READ_TOKEN": "s3cret"])
        #expect(taken.status == 0)
        let wrong = try CollectorProgram.run(flags + ["--read-token", "wr0ng"])
        #expect(wrong.status == 2)
        #expect(!(wrong.output + wrong.errors).contains("wr0ng"))
    }

    @Test func aCollectorThatDoesNotAnswerIsToldInASentence() throws {
        let result = try CollectorProgram.run(["report", "--collector", "http://127.0.0.1:1"])
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("no collector answers at http://127.0.0.1:1"))
    }

    @Test func aFlagThatCannotBeUnderstoodIsToldInASentence() throws {
        for flags in [["--sort", "colour"], ["--since", "yesterday"], ["--top", "0"], ["--store", "oracle:x"]] {
            let result = try CollectorProgram.run(["report"] + flags)
            #expect(result.status == 64)
            #expect(!result.errors.isEmpty)
        }
    }

    @Test func itDoesNotListenBeyondLoopbackWithoutTokens() throws {
        let result = try CollectorProgram.run(["serve", "--host", "0.0.0.0", "--store", "sqlite:" + store])
        #expect(result.status == 64)
        #expect(result.errors.contains("--ingest-token"))
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func aStoreThatIsNoneIsToldInASentence() throws {
        try Data("dear diary".utf8).write(to: URL(fileURLWithPath: store))
        let result = try CollectorProgram.run(["serve", "--port", "0", "--store", "sqlite:" + store])
        #expect(result.status == 2)
        #expect(result.errors.contains("not a database"))
    }
}
