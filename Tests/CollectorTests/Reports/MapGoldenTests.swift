import Foundation
import Testing

@testable import MartletReports

/// Compares every output of one map with a file.
@Suite struct MapGoldenTests {
    @Test func terminalShowsTheMapPlainAndInColor() throws {
        for (isColored, file) in [(false, "map-120.txt"), (true, "map-120-color.txt")] {
            let device = OutputDevice(columns: 120, isColored: isColored)
            try expect(MapTable.text(of: SampleMap.report, SampleMap.context, on: device), in: file)
        }
    }

    @Test(arguments: [60, 70, 80, 100, 120, 160, 200])
    func noLineOfTheTableIsLongerThanTheTerminal(columns: Int) {
        let text = MapTable.text(of: SampleMap.report, SampleMap.context, on: OutputDevice(columns: columns))
        let table = text.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.isEmpty }.dropFirst()
            .prefix { !$0.isEmpty }
        #expect(table.count == SampleMap.report.edges.count + 1)
        for line in table { #expect(TextWidth.of(String(line)) <= columns, "\(line)") }
    }

    @Test func fileHasEveryColumnUncut() throws {
        var context = SampleMap.context
        context.now = nil
        let text = MapTable.text(of: SampleMap.report, context)
        try expect(text, in: "map-file.txt")
        #expect(!text.contains("…"))
    }

    @Test func programsGetTheMapInAFixedFormat() throws {
        try expect(try ReportJSON.text(of: SampleMap.report), in: "map.json")
        try expect(MapCSV.text(of: SampleMap.report), in: "map.csv")
    }

    @Test func jsonCanBeDecoded() throws {
        let text = try ReportJSON.text(of: SampleMap.report)
        #expect(try ReportJSON.value(of: MapReport.self, in: Data(text.utf8)) == SampleMap.report)
    }

    @Test func commandShowsFailuresOfTheWorstEdgeIfNoRequestIsLost() {
        var report = SampleMap.report
        report.edges.removeAll { ($0.lost ?? 0) > 0 }
        let text = MapTable.text(of: report, SampleMap.context)
        #expect(text.hasPrefix("No request is known to be lost."))
        #expect(
            text.hasSuffix(
                """
                See them:  martlet-collector requests --since 1h --environment production --service payments --kind client \
                --host acquirer.example:443 --failed --collector http://127.0.0.1:4318

                """))
    }

    @Test func twentyNotesAreWrittenOutAndTheOthersCounted() throws {
        var report = SampleMap.report
        let lossy = try #require(report.worst)
        report.edges = (0..<1_200).map { number in
            var edge = lossy
            (edge.host, edge.sharedBy, edge.fromOutside) = ("host-\(number):443", nil, nil)
            return edge
        }
        let text = MapTable.text(of: report, SampleMap.context)
        #expect(text.contains("could not connect to host-19:443: "))
        #expect(!text.contains("could not connect to host-20:443: "))
        #expect(text.contains("\n1,180 more notes; JSON has all figures\n"))
    }
}
