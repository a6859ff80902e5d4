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

    /// A path has few methods. An instrument may name any number of operations.
    @Test func operationsAreLimitedByTheBudgetToo() {
        var budget = EndpointBudget(limit: 2)
        let operations = (0..<1000).map { number in
            var request = Self.request("one", "users")
            (request.system, request.conventions, request.method) = ("mysql", .database, "OP \(number)")
            return budget.admit(request, at: Self.noon).method
        }
        #expect(Set(operations) == ["OP 0", "OP 1", "_OTHER"])
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

    @Test func errorTypeNotSeenForADayMakesRoomForAnother() {
        var budget = ErrorTypeBudget(limit: 1)
        let error = { (error: String, hours: UnixNanoseconds) in
            var request = Self.request("one", "/a")
            request.error = error
            budget.forgetUnused(at: Self.noon + hours * Self.hour)
            return budget.admit(request, at: Self.noon + hours * Self.hour).error
        }
        #expect(error("no order 1", 0) == "no order 1")
        #expect(error("no order 2", 23) == "_OTHER")
        #expect(error("dns", 23) == "dns")
        #expect(error("no order 2", 25) == "no order 2")
        #expect(error("no order 1", 25) == "_OTHER")
    }

    @Test func placeNotSeenForADayMakesRoomForAnother() {
        var places = VaryingPlaces(limit: 1)
        let judge = { (place: String, hours: UnixNanoseconds) in
            (0...MartletLimits.namesOfAPlace).map { number in
                places.judge(
                    Array("\(number)".utf8)[...], after: Array(place.utf8),
                    of: RequestTarget(host: "one", port: 80, path: ""), at: Self.noon + hours * Self.hour)
            }
        }
        #expect(judge("/users/", 0).last == .firstValue)
        #expect(Set(judge("/users/", 0)) == [.value])
        #expect(Set(judge("/teams/", 0)) == [.name])
        places.forgetUnused(at: Self.noon + 25 * Self.hour)
        #expect(judge("/teams/", 25).last == .firstValue)
        #expect(Set(judge("/users/", 25)) == [.name])
    }

    private static func request(_ host: String, _ endpoint: String) -> RequestDimensions {
        RequestDimensions(
            kind: .client, method: "GET", host: host, port: host == "{other}" ? 0 : 80, endpoint: endpoint, status: 200,
            error: nil)
    }
}
