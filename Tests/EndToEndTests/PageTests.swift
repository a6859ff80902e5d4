import Fixtures
import Foundation
import MartletReports
import Testing

/// The page and the API of a real collector with two hours of a small shop, in a real browser and under a real fuzzer.
@Suite(.serialized) struct PageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs a Python program to its end, and returns its output.
    private static func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> String {
        let environment = [
            "HOME": folder.path("home"), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": Repository.path("Tests/EndToEndTests"), "SCHEMATHESIS_HOOKS": "api_hooks",
        ]
        let (status, output, errors) = try await ChildProcess(.testPython, arguments, environment: environment).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: output + errors) }
        return output
    }

    private func run(_ arguments: [String]) async throws -> String { try await Self.run(arguments, in: folder) }

    /// The store with the shop's figures, and the number of requests that the shop made. They are made once, because that takes
    /// seconds. The contents are `nil` in a ClickHouse, where all tests use the same database.
    private static let filled = Task {
        let folder = try TemporaryFolder()
        let store = folder.path("collector.sqlite")
        let collector = try await CollectorProcess(store: store)
        let output = try await run(
            [Repository.path("Tests/EndToEndTests/shop_world.py"), collector.address], in: folder)
        _ = await collector.terminate()
        let made = try #require(UInt64(output.trimmingCharacters(in: .whitespacesAndNewlines)))
        let contents = TestedStore.isClickHouse ? nil : try Data(contentsOf: URL(fileURLWithPath: store))
        return (store: store, contents: contents, made: made)
    }

    /// Returns a collector that has the shop's figures, and the number of requests that the shop made.
    private func shop() async throws -> (collector: CollectorProcess, made: UInt64) {
        let filled = try await Self.filled.value
        guard let contents = filled.contents else {
            return (try await CollectorProcess(store: filled.store), filled.made)
        }
        try contents.write(to: folder.url.appendingPathComponent("collector.sqlite"))
        return (try await CollectorProcess(store: folder.path("collector.sqlite")), filled.made)
    }

    /// The screenshots stay in the folder that `MARTLET_SCREENSHOTS` names.
    @Test func userFindsTheFailingEndpointAndItsSlowestRequest() async throws {
        let (collector, _) = try await shop()
        let pictures = ProcessInfo.processInfo.environment["MARTLET_SCREENSHOTS"].map { [$0] } ?? []
        let output = try await run(
            [
                Repository.path("Tests/EndToEndTests/browse_page.py"), collector.address, folder.path("profile"),
            ] + pictures)
        #expect(output.contains("clear after a second question"))
    }

    /// The fuzzer compares the server with its description. One check is left out: the server refuses a window whose start is
    /// after its end, and no schema can express that.
    @Test func apiMatchesItsDescription() async throws {
        let (collector, _) = try await shop()
        let output = try await run([
            "-m", "schemathesis.cli", "run", "\(collector.address)/api/v1/openapi.json", "--max-examples", "30",
            "--phases",
            ProcessInfo.processInfo.environment["MARTLET_API_FUZZING"] == nil
                ? "examples,coverage" : "examples,coverage,fuzzing",
            "--exclude-checks", "positive_data_acceptance", "--seed", "1",
            "--no-color", "--generation-codec", "ascii",
        ])
        #expect(!output.contains("FAILURES"))
    }

    /// For windows that end at the same moment, the page, the command and the API have the same requests.
    @Test func pageCommandAndAPIHaveTheSameFigures() async throws {
        let (collector, made) = try await shop()
        let until = TimeText.format(UInt64(Date().timeIntervalSince1970) * 1_000_000_000)
        let since = TimeText.format(UInt64(Date().timeIntervalSince1970 - 3 * 3600) * 1_000_000_000)
        let output = try await output(
            of: ["report", "--since", since, "--until", until, "--kind", "client", "--collector", collector.address],
            of: collector,
            sameAs: "/api/v1/report?since=\(since)&until=\(until)&kind=client")
        let report = try ReportJSON.value(of: Report.self, in: Data(output.utf8))
        #expect(report.totals.measures.count == made)
        let query = "since=\(since)&until=\(until)&kind=client&compare=off"
        let page = try await text(at: collector.address + "/?" + query)
        let measures = report.totals.measures
        for figure in [
            FigureText.grouped(measures.count), FigureText.percent(measures.failures.rate),
            FigureText.figure(measures.latency.p50), FigureText.figure(measures.latency.p95),
        ] {
            #expect(page.contains(">\(figure)<"), "\(figure)")
        }
    }

    /// The overview compares with the time before, and so do its commands.
    @Test func commandsOfTheOverviewTablesGiveTheirFigures() async throws {
        let (collector, _) = try await shop()
        let now = UInt64(Date().timeIntervalSince1970) * 1_000_000_000
        let query = "since=\(TimeText.format(now - 3600 * 1_000_000_000))&until=\(TimeText.format(now))"
        let page = try await text(at: collector.address + "/?" + query)
        for (heading, rows) in [("h-services", 4), ("h-hosts", 3)] {
            let section = try #require(page.split(separator: "id=\"\(heading)\"").last)
            let table = try #require(section.split(separator: "</section>").first)
            let command = try #require(table.firstMatch(of: #/<code>martlet-collector ([^<]*)<\/code>/#)?.1)
            let arguments = command.split(separator: " ").map(String.init)
            let output = try await ChildProcess(
                .martletCollector, arguments + ["--format", "json"]
            ).finish().output
            let report = try ReportJSON.value(of: Report.self, in: Data(output.utf8))
            #expect(report.rows.count == rows)
            for measures in report.rows.map(\.measures) {
                for figure in [
                    FigureText.grouped(measures.count), FigureText.percent(measures.failures.rate),
                    FigureText.figure(measures.latency.p95),
                ] {
                    #expect(table.contains(">\(figure)<"), "\(command): \(figure)")
                }
            }
        }
    }

    @Test func pageCommandAndAPIHaveTheSameMap() async throws {
        let (collector, _) = try await shop()
        let now = UInt64(Date().timeIntervalSince1970) * 1_000_000_000
        let query = "since=\(TimeText.format(now - 3 * 3600 * 1_000_000_000))&until=\(TimeText.format(now))"
        let page = try await text(at: collector.address + "/map?" + query)
        let command = try #require(page.firstMatch(of: #/<code>martlet-collector (map [^<]*)<\/code>/#)?.1)
        let output = try await output(
            of: command.split(separator: " ").map(String.init), of: collector, sameAs: "/api/v1/map?" + query)
        let report = try ReportJSON.value(of: MapReport.self, in: Data(output.utf8))
        #expect(report.edges.contains { $0.callee.service != nil && $0.caller.service != nil })
        #expect(page.contains(">\(report.sentence)<"))
        let table = try #require(page.split(separator: "id=\"h-edges\"").last)
        for edge in report.edges {
            let figures = [edge.sent, edge.arrived].compactMap(\.self).flatMap {
                [
                    FigureText.grouped($0.count), FigureText.percent($0.failures.rate),
                    FigureText.figure($0.latency.p95),
                ]
            }
            for figure in figures + [edge.lost, edge.uncounted].compactMap({ $0.map(FigureText.grouped) }) {
                #expect(table.contains(">\(figure)<") || figure == "0", "\(edge.callee.name): \(figure)")
            }
        }
    }

    /// Returns the JSON of a command, which equals that of the API to the last digit. A roll-up between the two adds sums in
    /// another order. So both are repeated until the command returns the same after the API as before it.
    private func output(
        of arguments: [String], of collector: CollectorProcess, sameAs path: String
    ) async throws -> String {
        func command() async throws -> String {
            try await ChildProcess(
                .martletCollector, arguments + ["--format", "json"]
            ).finish().output
        }
        var output = try await command()
        for _ in 0..<10 {
            let answer = try await text(at: collector.address + path)
            let again = try await command()
            // ClickHouse adds durations in any order.
            if again == output || TestedStore.isClickHouse {
                #expect(TestedStore.isClickHouse ? rounded(answer) == rounded(output) : answer == output)
                return output
            }
            output = again
        }
        Issue.record("the command says something else each time")
        return output
    }

    /// Returns the text with nine digits of each number.
    private func rounded(_ text: String) -> String {
        text.replacing(#/[0-9]+\.[0-9]+/#) { String(format: "%.9g", Double($0.output) ?? 0) }
    }

    private func text(at address: String) async throws -> String {
        let url = try #require(URL(string: address))
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }
}
