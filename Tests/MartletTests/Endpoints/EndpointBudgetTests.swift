import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct EndpointBudgetTests {
    private static let noon: UnixNanoseconds = 1_790_000_000_000_000_000
    private static let hour: UnixNanoseconds = 3_600_000_000_000

    @Test func requestAboveTheBudgetCountsAsOtherOfItsHost() {
        var budget = EndpointBudget(limit: 3)
        for endpoint in ["/a", "/b", "/c"] {
            #expect(budget.admit(Self.request("one", endpoint), at: Self.noon) == Self.request("one", endpoint))
        }
        #expect(budget.admit(Self.request("one", "/d"), at: Self.noon) == Self.request("one", "{other}"))
        #expect(budget.admit(Self.request("two", "/a"), at: Self.noon) == Self.request("two", "{other}"))
        #expect(budget.admit(Self.request("one", "/b"), at: Self.noon) == Self.request("one", "/b"))
    }

    @Test func hostsAreLimitedByTheBudgetToo() {
        var budget = EndpointBudget(limit: 2)
        let hosts = (0..<1000).map { budget.admit(Self.request("host-\($0)", "/x"), at: Self.noon).host }
        #expect(Set(hosts).count == 2 + 2 + 1)
        #expect(hosts.last == "{other}")
    }

    @Test func nameNotSeenForADayMakesRoomForAnother() {
        var budget = EndpointBudget(limit: 2)
        _ = budget.admit(Self.request("one", "/a"), at: Self.noon)
        _ = budget.admit(Self.request("one", "/b"), at: Self.noon)
        _ = budget.admit(Self.request("one", "/b"), at: Self.noon + 20 * Self.hour)
        budget.forgetUnused(at: Self.noon + 23 * Self.hour)
        #expect(budget.admit(Self.request("one", "/c"), at: Self.noon + 23 * Self.hour).endpoint == "{other}")
        budget.forgetUnused(at: Self.noon + 25 * Self.hour)
        #expect(budget.admit(Self.request("one", "/c"), at: Self.noon + 25 * Self.hour).endpoint == "/c")
        #expect(budget.admit(Self.request("one", "/b"), at: Self.noon + 25 * Self.hour).endpoint == "/b")
        #expect(budget.admit(Self.request("one", "/a"), at: Self.noon + 25 * Self.hour).endpoint == "{other}")
    }

    @Test func clockSetBackForgetsNothing() {
        var budget = EndpointBudget(limit: 1)
        _ = budget.admit(Self.request("one", "/a"), at: Self.noon)
        budget.forgetUnused(at: Self.noon - 48 * Self.hour)
        #expect(budget.admit(Self.request("one", "/b"), at: Self.noon).endpoint == "{other}")
    }

    private static func request(_ host: String, _ endpoint: String) -> RequestDimensions {
        RequestDimensions(
            kind: .client, method: "GET", host: host, port: host == "{other}" ? 0 : 80, endpoint: endpoint, status: 200,
            error: nil)
    }
}
