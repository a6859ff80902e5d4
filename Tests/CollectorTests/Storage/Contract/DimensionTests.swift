import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// What a store does with each dimension.
    @Suite struct DimensionTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
            try await TwoSenders.fill(storage)
        }

        private func filter(_ dimension: Dimension, _ value: String) -> RequestFilter {
            RequestFilter([dimension: [value]])
        }

        @Test func eachDimensionHasItsValues() async throws {
            for dimension in Dimension.allCases {
                let query = ValuesQuery(dimension, window: Samples.everything, limit: 10)
                #expect(try await storage.values(query).values == TwoSenders.values(of: dimension), "\(dimension)")
            }
        }

        @Test func eachDimensionGroupsRequests() async throws {
            for dimension in Dimension.allCases {
                let answer = try await storage.statistics(
                    StatisticsQuery(window: Samples.everything, by: [dimension]))
                let values = answer.groups.compactMap { $0.values[0] }.sorted()
                #expect(try values == TwoSenders.values(of: dimension), "\(dimension)")
                #expect(answer.groups.allSatisfy { $0.count == TwoSenders.count }, "\(dimension)")
            }
        }

        /// Groups by all dimensions, so that each value is also read.
        @Test func eachDimensionSelectsCountedRequests() async throws {
            let all = Dimension.allCases
            for dimension in all {
                for sender in [TwoSenders.failing, TwoSenders.sound] {
                    let filter = filter(dimension, try sender.value(of: dimension))
                    let answer = try await storage.statistics(
                        StatisticsQuery(window: Samples.everything, filter: filter, by: all))
                    let values = try all.map { try sender.value(of: $0) }
                    #expect(answer.groups.map { $0.values.compactMap(\.self) } == [values], "\(dimension)")
                    let query = ValuesQuery(.service, window: Samples.everything, filter: filter, limit: 10)
                    if dimension.isSenderAttribute {
                        #expect(try await storage.values(query).values == [sender.resource.service], "\(dimension)")
                    }
                }
            }
        }

        @Test func eachDimensionSelectsKeptRequests() async throws {
            for dimension in Dimension.allCases {
                for sender in [TwoSenders.failing, TwoSenders.sound] {
                    let filter = filter(dimension, try sender.value(of: dimension))
                    let answer = try await storage.requests(
                        RequestsQuery(window: Samples.everything, filter: filter, limit: 10))
                    #expect(answer.requests.map(\.resource.service) == [sender.resource.service], "\(dimension)")
                    let value = try #require(
                        answer.requests.first.flatMap { request in
                            request.span.request.flatMap { dimension.value(of: $0, from: request.resource) }
                        })
                    #expect(try value == sender.value(of: dimension))
                }
            }
        }

        @Test func senderDimensionsSelectSenders() async throws {
            for dimension in Dimension.ofSender {
                for sender in [TwoSenders.failing, TwoSenders.sound] {
                    let filter = filter(dimension, try sender.value(of: dimension))
                    let found = try await storage.agents(seenSince: 0, filter, limit: 10).agents
                    #expect(found.map(\.resource.service) == [sender.resource.service], "\(dimension)")
                    #expect(try found.map { dimension.value(of: $0.resource) } == [sender.value(of: dimension)])
                }
            }
        }
    }
}
