import Foundation
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

/// Compares the outputs of kept requests and of agents with files.
@Suite struct RequestGoldenTests {
    @Test func terminalShowsARequestPlainAndInColor() throws {
        let report = try #require(SampleRequest.report)
        try expect(RequestText.text(of: report, on: OutputDevice(columns: 120)), in: "request-120.txt")
        let colored = OutputDevice(columns: 120, isColored: true)
        try expect(RequestText.text(of: report, on: colored), in: "request-120-color.txt")
    }

    @Test(arguments: [60, 80, 100, 160])
    func noLineOfAWaterfallIsLongerThanTheTerminal(columns: Int) throws {
        let device = OutputDevice(columns: columns)
        let report = try #require(SampleRequest.report)
        let phases = try #require(PhaseText(report)).text(on: device)
        let trace = TraceText(report).text(on: device).split(separator: "\n").dropFirst().dropLast(3)
        for line in phases.split(separator: "\n") + trace {
            #expect(TextWidth.of(String(line)) <= columns, "\(line)")
        }
    }

    @Test func fileHasARequestUncut() throws {
        let text = RequestText.text(of: try #require(SampleRequest.report))
        try expect(text, in: "request-file.txt")
        #expect(!text.contains("\u{1b}"))
    }

    @Test func programsGetRequestsInAFixedFormat() throws {
        try expect(try ReportJSON.text(of: SampleRequest.list), in: "requests.json")
        try expect(try ReportJSON.text(of: try #require(SampleRequest.report)), in: "request.json")
        try expect(RequestsCSV.text(of: SampleRequest.list), in: "requests.csv")
    }

    @Test(arguments: [80, 120, 200])
    func listFitsTheWidthOfTheTerminal(columns: Int) throws {
        let text = RequestsTable.text(of: SampleRequest.list, on: OutputDevice(columns: columns))
        if columns == 120 { try expect(text, in: "requests-120.txt") }
        for line in text.split(separator: "\n").dropLast() { #expect(TextWidth.of(String(line)) <= columns, "\(line)") }
        try expect(RequestsTable.text(of: SampleRequest.list), in: "requests-file.txt")
    }

    @Test(arguments: [80, 120, 200])
    func agentsFitTheWidthOfTheTerminal(columns: Int) throws {
        let now = Samples.time(7_300)
        var process = ProcessStatistics()
        (process.counts[.cpuUser], process.covered) = (7_460_000_000, 60_000_000_000)
        process.add(7_200_000_000_000, of: .uptime)
        for (gauge, value) in [.residentMemory: 84 << 20, .threads: 14, .descriptors: 62] as [ProcessGauge: UInt64] {
            process.add(value, of: gauge)
        }
        let agents = ["storefront", "payments"].enumerated().map { index, service in
            AgentRecord(
                resource: Samples.resource(service, instance: "\(service)-7c9d8f6b5-x2lqp"), firstSeen: Samples.time(0),
                lastSeen: Samples.time(7_298 - UInt64(index) * 7_000),
                ledger: LedgerReading(
                    time: Samples.time(7_297 - UInt64(index) * 7_000), captured: 2_130_417, waiting: 12), gaps: nil,
                process: index == 0 ? process : nil)
        }
        let report = AgentsReport(AgentsAnswer(agents: agents, more: 0), since: Samples.time(0))
        let text = AgentsTable.text(of: report, now: now, on: OutputDevice(columns: columns))
        if columns == 120 { try expect(text, in: "agents-120.txt") }
        for line in text.split(separator: "\n") { #expect(TextWidth.of(String(line)) <= columns) }
        try expect(AgentsTable.text(of: report), in: "agents-file.txt")
        try expect(try ReportJSON.text(of: report), in: "agents.json")
    }
}
