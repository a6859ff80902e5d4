import Fixtures
import Foundation
import Testing

@testable import MartletReports

/// Whom ``ChangeCarriers`` names in simulated fleets: 50 instances, half of them of each of two versions, and 5 callers. The seeds are
/// fixed.
@Suite struct ChangeCarriersTests {
    private static let slots = 10

    /// The requests of an instance from a caller. Changed by a world.
    private struct Source {
        var version: String
        var instance: Int
        var caller: Int
        /// Requests in each slot.
        var requests = Array(repeating: 4, count: slots)
        /// The share of affected requests in each slot.
        var share = Array(repeating: 0.01, count: slots)
        var shareBefore = 0.01
        var requestsBefore = 200
        /// How many requests are affected together.
        var cluster = 1
    }

    private func carriers(seed: UInt64, _ change: (inout Source) -> Void) -> ChangeCarriers {
        var random = SeededGenerator(seed: seed)
        var cells: [ChangeCarriers.Cell] = []
        for instance in 0..<50 {
            for caller in 0..<5 {
                var source = Source(version: instance % 2 == 0 ? "A" : "B", instance: instance, caller: caller)
                change(&source)
                let slots = zip(source.requests, source.share).map { requests, share in
                    Self.count(requests, share, source.cluster, &random)
                }
                cells.append(
                    ChangeCarriers.Cell(
                        [.version: source.version, .instance: "i\(instance)", .caller: "c\(caller)"], slots: slots,
                        before: Self.count(source.requestsBefore, source.shareBefore, 1, &random)))
            }
        }
        return ChangeCarriers(cells)
    }

    private static func count(
        _ requests: Int, _ share: Double, _ cluster: Int, _ random: inout SeededGenerator
    ) -> ChangeCarriers.Count {
        let events = (0..<requests).count { _ in Double.random(in: 0..<1, using: &random) < share / Double(cluster) }
        return .init(requests: UInt64(requests), affected: UInt64(min(events * cluster, requests)))
    }

    private func names(_ carriers: ChangeCarriers) -> [String] {
        carriers.values.map { "\($0.property.rawValue) \($0.value)" }
    }

    @Test(arguments: [(0.05, 1), (0.5, 1), (0.1, 3)] as [(Double, Int)])
    func failuresAtRandomNameNobody(share: Double, cluster: Int) {
        let named = (1...30).filter { seed in
            !carriers(seed: seed) {
                $0.share = Array(repeating: share, count: Self.slots)
                $0.cluster = cluster
            }.values.isEmpty
        }
        #expect(named.count <= 1, "seeds \(named)")
    }

    @Test(arguments: ["version B", "instance i7", "caller c2"])
    func valueThatCarriesTheChangeIsNamedAndNothingElse(name: String) {
        let right = (1...20).filter { seed in
            names(
                carriers(seed: seed) { source in
                    let values = [
                        "version \(source.version)", "instance i\(source.instance)", "caller c\(source.caller)",
                    ]
                    if values.contains(name) { source.share = Array(repeating: 0.3, count: Self.slots) }
                }) == [name]
        }
        #expect(right.count >= 19, "\(name): only \(right)")
    }

    @Test func allThatCarryTheChangeAreNamed() {
        let bad = [7, 12, 30]
        let found = carriers(seed: 1) {
            if bad.contains($0.instance) { $0.share = Array(repeating: 0.6, count: Self.slots) }
        }
        #expect(Set(names(found)) == ["instance i7", "instance i12", "instance i30"])
        #expect(found.values.allSatisfy { $0.count.requests == 200 && $0.count.rate > 0.5 && $0.others.rate < 0.1 })
    }

    /// All requests fail, or ever fewer of them, and one version does not exist in the first half.
    @Test(arguments: [[1.0], [0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.3, 0.25]])
    func versionThatBeginsWithinTheStormIsNotNamed(shares: [Double]) {
        for seed in 1...10 as ClosedRange<UInt64> {
            let found = carriers(seed: seed) { source in
                source.share = (0..<Self.slots).map { shares[$0 % shares.count] }
                for slot in 0..<Self.slots where (slot < 5) == (source.version == "B") { source.requests[slot] = 0 }
                // Some instances of the earlier version stay.
                if source.version == "A", source.instance % 4 == 0 { source.requests = Array(repeating: 4, count: 10) }
                if source.version == "B" { source.requestsBefore = 0 }
            }
            #expect(names(found) == [], "seed \(seed)")
        }
    }

    @Test func instanceThatWasAlwaysWorseIsNotNamedForAChangeOfAll() {
        for seed in 1...10 as ClosedRange<UInt64> {
            let found = carriers(seed: seed) { source in
                let usual = source.instance == 7 ? 0.03 : 0.01
                (source.shareBefore, source.requestsBefore) = (usual, 2000)
                source.share = Array(repeating: usual * 10, count: Self.slots)
            }
            #expect(names(found) == [], "seed \(seed)")
        }
    }

    @Test func fewAffectedRequestsOrOneValueNameNobody() {
        func cell(_ instance: String, _ affected: UInt64) -> ChangeCarriers.Cell {
            .init([.instance: instance], slots: [.init(requests: 100, affected: affected)], before: .init())
        }
        #expect(ChangeCarriers([]).values.isEmpty)
        #expect(ChangeCarriers([cell("a", 100)]).values.isEmpty)
        #expect(ChangeCarriers([cell("a", 4), cell("b", 0), cell("c", 0)]).values.isEmpty)
        #expect(ChangeCarriers([cell("a", 40), cell("b", 0), cell("c", 0)]).values.map(\.value) == ["a"])
    }

    @Test func jsonIsAListOfValuesWithTheirCounts() throws {
        let found = ChangeCarriers([
            .init([.version: "2"], slots: [.init(requests: 100, affected: 50)], before: .init()),
            .init([.version: "1"], slots: [.init(requests: 300, affected: 1)], before: .init()),
        ])
        let json = try ReportJSON.text(of: found)
        #expect(
            json.filter { !$0.isWhitespace } == """
                [{"affected":50,"count":100,"dimension":"version","others_affected":1,"others_count":300,"value":"2"}]
                """)
        #expect(try ReportJSON.value(of: ChangeCarriers.self, in: Data(json.utf8)) == found)
    }
}
