import Fixtures
import Foundation
import MartletFindings
import MartletReports
import MartletTelemetry
import Testing

@testable import MartletStorage
@testable import martlet_collector

/// The flags of each dimension, in every command.
@Suite struct DimensionFlagsTests {
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        try await TwoSenders.fill(folder.path("collector.sqlite"))
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let window = ["--since", TwoSenders.window.since, "--until", TwoSenders.window.until]
        let store = ["--store", "sqlite:" + folder.path("collector.sqlite")]
        return try await ChildProcess(.martletCollector, arguments + window + store).finish()
    }

    private func flag(_ dimension: MartletStorage.Dimension, _ sender: TwoSenders.Sender) throws -> [String] {
        ["--\(dimension.rawValue)", try sender.value(of: dimension)]
    }

    @Test func everyFlagGroupHasAFlagForEachOfItsDimensions() throws {
        let none: [String] = []
        #expect(try Set(RequestFilters.parse(none).given.keys) == Set(MartletStorage.Dimension.allCases))
        #expect(try Set(SenderFilters<FilteredInstances>.parse(none).given.keys) == Set(AgentsParameter.filters))
        #expect(try Set(FindingFilters.parse(none).given.keys) == Set(FindingsParameter.filters))
        #expect(try Set(ServiceFilters<FilteredEdges>.parse(none).given.keys) == Set(MapParameter.filters))
    }

    @Test(arguments: MartletStorage.Dimension.allCases)
    func flagGivesTheValuesOfItsDimension(dimension: MartletStorage.Dimension) throws {
        let flag = ["--\(dimension.rawValue)", "a", "--\(dimension.rawValue)", "b"]
        let filters = try RequestFilters.parse(flag).filters
        #expect(filters.map(\.dimension) == [dimension, dimension])
        #expect(filters.map(\.value) == ["a", "b"])
        #expect(RequestFilters.helpMessage(columns: 500).contains(dimension.help))
        #expect(GroupingOptions.helpMessage(columns: 500).contains(dimension.rawValue))
    }

    @Test(arguments: MartletStorage.Dimension.allCases)
    func everyReportFormatShowsIt(dimension: MartletStorage.Dimension) async throws {
        for format in ["table", "json", "csv", "markdown"] {
            let report = try await run(["report", "--by", dimension.rawValue, "--format", format])
            #expect(report.status == 0, "\(report.errors)")
            for text in try TwoSenders.values(of: dimension) + [dimension.rawValue] {
                #expect(report.output.contains(text), "\(format) has no \(text): \(report.output)")
            }
        }
    }

    @Test(arguments: MartletStorage.Dimension.allCases)
    func flagFiltersTheReportAndTheList(dimension: MartletStorage.Dimension) async throws {
        for sender in [TwoSenders.failing, TwoSenders.sound] {
            let flags = try flag(dimension, sender) + ["--format", "json"]
            let report = try await run(["report"] + flags)
            let counted = try ReportJSON.value(of: Report.self, in: Data(report.output.utf8))
            #expect(counted.rows.map { $0.text(of: .service) } == [sender.resource.service])
            let requests = try await run(["requests", "list"] + flags)
            let kept = try ReportJSON.value(of: RequestsReport.self, in: Data(requests.output.utf8))
            #expect(kept.requests.map(\.service) == [sender.resource.service])
        }
    }

    @Test(arguments: MartletStorage.Dimension.allCases)
    func flagFiltersACheck(dimension: MartletStorage.Dimension) async throws {
        let limit = ["check", "--max-failure-rate", "1%"]
        #expect(try await run(limit + flag(dimension, TwoSenders.failing)).status == 1)
        #expect(try await run(limit + flag(dimension, TwoSenders.sound)).status == 0)
    }

    @Test func mapFlagsSelectServices() async throws {
        for dimension in MapParameter.filters {
            let map = try await run(["map", "--format", "json"] + flag(dimension, TwoSenders.sound))
            #expect(map.output.contains("cart") && !map.output.contains("checkout"), "\(dimension): \(map.output)")
        }
    }

    @Test func senderFlagsSelectAgents() async throws {
        for dimension in AgentsParameter.filters {
            let flags = try flag(dimension, TwoSenders.sound) + ["--format", "json", "--since", "400d"]
            let store = ["--store", "sqlite:" + folder.path("collector.sqlite")]
            let agents = try await ChildProcess(.martletCollector, ["agents"] + flags + store).finish()
            let report = try ReportJSON.value(of: AgentsReport.self, in: Data(agents.output.utf8))
            #expect(report.agents.map(\.service) == ["cart"], "\(dimension): \(agents.errors)")
        }
    }
}
