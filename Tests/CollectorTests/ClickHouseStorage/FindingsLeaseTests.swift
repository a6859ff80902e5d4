import Fixtures
import MartletStorage
import Testing

@testable import MartletClickHouseStorage

/// The collector that computes findings, of several on one store.
@Suite(.enabled("a ClickHouse is installed") { TestedClickHouse.current != nil })
struct FindingsLeaseTests {
    private let database: ClickHouseDatabase

    init() async throws { database = try await ClickHouseDatabase(try #require(TestedClickHouse.current)) }

    @Test func oneCollectorComputesAndAnotherTakesOverOnceItsLeaseHasEnded() async throws {
        let (one, other) = (try await database.open(), try await database.open())
        #expect(try await one.leaseFindings(to: "b", seconds: 600))
        #expect(try await !other.leaseFindings(to: "a", seconds: 600))
        #expect(try await one.leaseFindings(to: "b", seconds: 600))
        // A lease of 0 seconds has ended.
        _ = try await one.leaseFindings(to: "b", seconds: 0)
        #expect(try await other.leaseFindings(to: "a", seconds: 600))
        #expect(try await !one.leaseFindings(to: "b", seconds: 600))
    }

    @Test func onlyOneOfManyThatAskAtOnceComputes() async throws {
        let storage = try await database.open()
        let owners = (0..<8).map { "owner\($0)" }
        let first = try await withThrowingTaskGroup(of: Bool.self) { group in
            for owner in owners { group.addTask { try await storage.leaseFindings(to: owner, seconds: 600) } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(first >= 1)
        // A collector whose lease was overtaken by an earlier one stops at its next tick.
        var holders: [String] = []
        for owner in owners where try await storage.leaseFindings(to: owner, seconds: 600) { holders.append(owner) }
        #expect(holders.count == 1)
    }
}
