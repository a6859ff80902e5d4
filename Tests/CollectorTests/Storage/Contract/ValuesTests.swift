import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct ValuesTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        private func store(_ points: [RequestPoint], from resource: TelemetryResource) async throws {
            _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
        }

        private func values(
            of dimension: Dimension, _ wanted: [Dimension: Set<String>] = [:], until end: UInt64 = .max,
            limit: Int = 100
        ) async throws -> ValuesAnswer {
            // The collector uses the real clock.
            try await storage.values(
                ValuesQuery(
                    dimension, window: TimeWindow(from: Samples.time(0), to: end), filter: RequestFilter(wanted),
                    limit: limit))
        }

        @Test func everyDimensionHasItsValues() async throws {
            try await store(
                [
                    Samples.point(Samples.dimensions(endpoint: "/b"), [1]),
                    Samples.point(Samples.dimensions(endpoint: "/a", status: nil, error: "timeout"), [1]),
                ], from: Samples.resource())
            try await store(
                [Samples.point(Samples.dimensions(.server, endpoint: "/c", status: 404), [1])],
                from: Samples.resource("cart", instance: "i-2"))
            let expected: [Dimension: [String]] = [
                .service: ["cart", "checkout"], .environment: ["test"], .version: ["1.2"], .instance: ["i-1", "i-2"],
                .kind: ["client", "server"], .method: ["GET"], .host: ["api.example.com:443"],
                .endpoint: ["/a", "/b", "/c"], .status: ["200", "404"], .error: ["timeout"],
            ]
            for dimension in Dimension.allCases {
                let answer = try await values(of: dimension)
                #expect(answer == ValuesAnswer(values: expected[dimension] ?? [], isThereMore: false), "\(dimension)")
            }
            #expect(try await values(of: .endpoint, [.service: ["cart"]]).values == ["/c"])
            #expect(try await values(of: .endpoint, [.error: ["timeout"]]).values == ["/a"])
            #expect(try await values(of: .service, [.instance: ["i-2"]]).values == ["cart"])
        }

        @Test func requestsThatArriveAfterTheWindowStillHaveValuesInIt() async throws {
            try await store([Samples.point(Samples.dimensions(endpoint: "/a"), [1])], from: Samples.resource())
            for (dimension, value) in [(Dimension.service, "checkout"), (.endpoint, "/a"), (.status, "200")] {
                #expect(try await values(of: dimension, until: Samples.time(3600)).values == [value])
            }
        }

        @Test func valuesPastTheLimitAreLeftOut() async throws {
            try await store(
                ["/c", "/a", "/b"].map { Samples.point(Samples.dimensions(endpoint: $0), [1]) },
                from: Samples.resource())
            #expect(try await values(of: .endpoint, limit: 2) == ValuesAnswer(values: ["/a", "/b"], isThereMore: true))
            #expect(try await values(of: .endpoint, limit: 3).isThereMore == false)
        }

        @Test func emptyStoreHasNoValues() async throws {
            for dimension in Dimension.allCases { #expect(try await values(of: dimension).values.isEmpty) }
        }
    }
}
