import Foundation
import Testing

@testable import Martlet

@Suite struct CollectorOrderTests {
    private let collectors = (1...4).compactMap { URL(string: "http://collector-\($0):4318") }
    private let instances = (0..<2000).map { "instance-\($0)" }

    private func preferred(_ collectors: [URL]) -> [URL: Set<String>] {
        instances.reduce(into: [:]) { $0[CollectorOrder.ranked(collectors, for: $1)[0], default: []].insert($1) }
    }

    @Test func instancesSpreadEvenlyOverCollectors() {
        let shares = preferred(collectors).mapValues(\.count)
        // 500 each on average, with a standard deviation of 19.
        #expect(shares.count == 4)
        #expect(shares.values.allSatisfy { (400...600).contains($0) }, "\(shares)")
    }

    @Test func preferenceDependsOnTheInstanceAndNotOnTheOrderOfTheList() {
        for instance in instances.prefix(100) {
            let order = CollectorOrder.ranked(collectors, for: instance)
            #expect(Set(order) == Set(collectors))
            #expect(CollectorOrder.ranked(collectors.reversed(), for: instance) == order)
        }
    }

    @Test func onlyInstancesOfARemovedCollectorMoveAndTheySpreadOverTheOthers() {
        let (before, after) = (preferred(collectors), preferred(Array(collectors.dropFirst())))
        for collector in collectors.dropFirst() {
            let (old, new) = (before[collector] ?? [], after[collector] ?? [])
            #expect(new.isSuperset(of: old))
            #expect((100...240).contains(new.count - old.count), "\(new.count - old.count)")
        }
    }

    @Test func duplicateAddressCountsOnce() throws {
        let twice = [try #require(URL(string: "http://a:4318")), try #require(URL(string: "http://user:p@a:4318/"))]
        #expect(CollectorOrder.ranked(twice, for: "i").count == 1)
    }
}
