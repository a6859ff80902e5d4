import Fixtures
import Foundation
import HummingbirdTesting
import MartletFindings
import MartletReports
import MartletServer
import MartletTelemetry
import Testing

@testable import MartletPage
@testable import MartletStorage

/// The parameters of each dimension, in every route and on the page.
@Suite struct DimensionRoutesTests {
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        try await TwoSenders.fill(folder.path("collector.sqlite"))
    }

    private func withFilledServer(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        try await withServer(store: folder.path("collector.sqlite"), clock: { Samples.time(20) }, body)
    }

    private func read<Answer: Decodable>(
        _ type: Answer.Type, _ path: String, from client: any TestClientProtocol
    ) async throws -> Answer {
        let response = try await client.get("/api/v1/\(path)")
        #expect(response.status == .ok, "\(path): \(response.text)")
        return try ReportJSON.value(of: type, in: Data(buffer: response.body))
    }

    private func parameter(
        _ dimension: MartletStorage.Dimension, _ sender: TwoSenders.Sender
    ) throws -> String {
        let value = try sender.value(of: dimension)
        return "\(dimension.rawValue)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? value)"
    }

    @Test(arguments: MartletStorage.Dimension.allCases)
    func everyRequestRouteFiltersByIt(dimension: MartletStorage.Dimension) async throws {
        try await withFilledServer { client in
            let name = dimension.rawValue
            let values = try TwoSenders.values(of: dimension)
            #expect(try await read(ValuesReport.self, "values/\(name)", from: client).values == values)
            let all = try await read(Report.self, "report?by=\(name)", from: client)
            #expect(all.rows.map { $0.text(of: dimension) }.sorted() == values)
            for sender in [TwoSenders.failing, TwoSenders.sound] {
                let (service, filter) = (sender.resource.service, try parameter(dimension, sender))
                let report = try await read(Report.self, "report?\(filter)", from: client)
                #expect(report.rows.map { $0.text(of: .service) } == [service])
                let series = try await read(SeriesReport.self, "series?by=\(name)&\(filter)", from: client)
                #expect(try series.rows.map(\.dimensions) == [[dimension: sender.value(of: dimension)]])
                let kept = try await read(RequestsReport.self, "requests?\(filter)", from: client)
                #expect(kept.requests.map(\.service) == [service])
            }
        }
    }

    @Test(arguments: MartletStorage.Dimension.ofSender)
    func senderRoutesFilterBySenderDimensions(dimension: MartletStorage.Dimension) async throws {
        try await withFilledServer { client in
            let filter = try parameter(dimension, TwoSenders.sound)
            let agents = try await read(AgentsReport.self, "agents?\(filter)", from: client)
            #expect(agents.agents.map(\.service) == ["cart"])
            let none = "\(dimension.rawValue)=none"
            #expect(try await read(AgentsReport.self, "agents?\(none)", from: client).agents.isEmpty)
            _ = try await read(ProcessReport.self, "process?\(filter)", from: client)
        }
    }

    @Test func routesRefuseFiltersThatTheyDoNotHave() async throws {
        try await withFilledServer { client in
            for (route, own) in [
                ("agents", AgentsParameter.filters), ("process", ProcessParameter.filters),
                ("map", MapParameter.filters), ("findings", FindingsParameter.filters),
            ] {
                for dimension in MartletStorage.Dimension.allCases where !own.contains(dimension) {
                    let answer = try await client.get("/api/v1/\(route)?\(parameter(dimension, TwoSenders.sound))")
                    #expect(answer.status == .badRequest, "\(route) takes \(dimension)")
                }
            }
        }
        var parameters = AgentsParameters()
        #expect(throws: ParameterError.self) { try parameters.add([(.endpoint, "/a")]) }
        #expect(parameters.values.isEmpty)
    }

    @Test(arguments: MartletStorage.Dimension.allCases)
    func pageFiltersByItAndNamesIt(dimension: MartletStorage.Dimension) async throws {
        try await withFilledServer { client in
            let (name, value) = (dimension.rawValue, try TwoSenders.failing.value(of: dimension))
            let query = "since=1h&\(try parameter(dimension, TwoSenders.failing))"
            let list = try await client.read("/requests?\(query)")
            #expect(list.status == 200 && list.text.contains("1 of them is kept."), "\(list.text)")
            #expect(list.commands.contains { $0.contains(" --\(name) ") }, "\(list.commands)")
            #expect(list.links.contains("/requests?since=1h"), "no link leaves out \(name)")
            let endpoint = try await client.read("/endpoint?\(query)")
            #expect(endpoint.status == 200)
            #expect(endpoint.text.contains(dimension == .kind ? "utgoing" : value), "\(endpoint.text)")
            #expect(endpoint.commands.contains { $0.contains(" --\(name) ") }, "\(endpoint.commands)")
            #expect(try await client.read("/?\(query)").status == 200)
        }
    }

    // MARK: The descriptions of the parameters

    @Test func openAPIHasTheParametersOfEachRoute() async throws {
        let series = ReportParameter.allCases.filter { $0 != .compare }.map(\.rawValue)
        let expected = [
            "report": ReportParameter.allCases.map(\.rawValue), "series": series,
            "requests": RequestsParameter.allCases.map(\.rawValue),
            "requests/{id}": [], "findings": FindingsParameter.allCases.map(\.rawValue),
            "values/{dimension}": ValuesParameter.allCases.map(\.rawValue),
            "map": MapParameter.allCases.map(\.rawValue), "agents": AgentsParameter.allCases.map(\.rawValue),
            "process": ProcessParameter.allCases.map(\.rawValue),
        ]
        try await withServer { client in
            let document = try OpenAPI(try await client.get("/api/v1/openapi.json").text)
            #expect(Set(document.paths.keys) == Set(expected.keys.map { "/api/v1/\($0)" }))
            for (route, names) in expected {
                #expect(try document.query(of: "/api/v1/\(route)") == names.sorted(), "\(route)")
            }
            let dimensions = MartletStorage.Dimension.allCases.map(\.rawValue)
            for name in dimensions {
                #expect(document.row.contains(name), "a row has no \(name)")
            }
            #expect(try document.values == [dimensions, dimensions])
        }
    }

    @Test func apiDocumentNamesEachFilter() throws {
        let rows = try Repository.table(after: "## Window and filters", in: "docs/api.md")
        let names = rows.flatMap { $0[0].split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(names.sorted() == (["since", "until"] + MartletStorage.Dimension.allCases.map(\.rawValue)).sorted())
    }
}

/// The parts of `openapi.json` that these tests read.
private struct OpenAPI {
    private typealias Object = [String: Any]

    private let document: [String: Any]
    let paths: [String: [String: Any]]

    init(_ text: String) throws {
        document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        paths = try #require(document["paths"] as? [String: [String: Any]])
    }

    private var components: Object { document["components"] as? Object ?? [:] }

    private var shared: [String: Object] { components["parameters"] as? [String: Object] ?? [:] }

    /// Returns the parameters of a path, including those that it refers to.
    private func parameters(of path: String) throws -> [Object] {
        let get = try #require(paths[path]?["get"] as? Object)
        return try #require(get["parameters"] as? [Object]).map { parameter in
            guard let reference = parameter["$ref"] as? String else { return parameter }
            return try #require(shared[String(reference.split(separator: "/").last ?? "")], "no \(reference)")
        }
    }

    /// Returns the names of the parameters of a path's query.
    func query(of path: String) throws -> [String] {
        try parameters(of: path).filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String }.sorted()
    }

    /// The properties of a row of a report.
    var row: Set<String> {
        let row = (components["schemas"] as? [String: Object])?["Row"]?["properties"] as? Object
        return Set(row?.keys ?? [:].keys)
    }

    /// The dimensions that the path of values takes, and those that `by` takes.
    var values: [[String]] {
        get throws {
            let path = try parameters(of: "/api/v1/values/{dimension}").first { $0["in"] as? String == "path" }
            let by = (shared["by"]?["schema"] as? Object)?["items"] as? Object
            return try [#require(path?["schema"] as? Object), #require(by)].compactMap { $0["enum"] as? [String] }
        }
    }
}
