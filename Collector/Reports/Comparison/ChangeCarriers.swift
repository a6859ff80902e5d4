import Foundation

/// The values of version, instance, host, caller and endpoint that carry a change: requests with such a value are affected, failed
/// or slow, more often than all others at the same time, by more than chance explains. Pure.
///
/// Only the changed part counts, in slots, so that a value is compared with what lived when it did: a version that began in the
/// second half of a storm is no better or worse than the others of that half. The value that explains most is taken out with its
/// requests, and the rest is searched again. So a bad version is named, and its instances are not.
///
/// Error types and statuses are no properties here: they are the failure itself.
package struct ChangeCarriers: Sendable, Equatable {
    /// The properties that can carry a change.
    package enum Property: String, Sendable, CaseIterable, Codable {
        case version, instance, host, caller, endpoint
    }

    /// A number of requests, and how many of them are affected.
    package struct Count: Sendable, Equatable {
        package var requests: UInt64
        package var affected: UInt64

        package init(requests: UInt64 = 0, affected: UInt64 = 0) {
            (self.requests, self.affected) = (requests, affected)
        }

        package var rate: Double { requests > 0 ? Double(affected) / Double(requests) : 0 }
    }

    /// The requests with the same value of each property.
    package struct Cell: Sendable {
        /// A property without a value is left out.
        package var values: [Property: String]
        /// The requests in each slot of the changed part. All cells have the same slots.
        package var slots: [Count]
        /// The requests before the changed part.
        package var before: Count

        package init(_ values: [Property: String], slots: [Count], before: Count) {
            (self.values, self.slots, self.before) = (values, slots, before)
        }
    }

    /// A value that carries the change, and its requests in the changed part.
    package struct Carrier: Sendable, Equatable {
        package var property: Property
        package var value: String
        package var count: Count
        /// The requests with other values, in the slots in which this value has requests.
        package var others: Count

        package init(_ property: Property, _ value: String, _ count: Count, others: Count) {
            (self.property, self.value, self.count, self.others) = (property, value, count, others)
        }
    }

    /// The value that explains most comes first. Empty if nothing that is counted sets the affected requests apart.
    package let values: [Carrier]

    /// The probability of naming any value if none carries the change; divided by the number of values that are looked at.
    private static let level = 0.01
    /// The most values that are named.
    private static let most = 5

    package init(_ cells: [Cell]) {
        var (rest, values, level) = (cells.filter { $0.slots.contains { $0.requests > 0 } }, [Carrier](), Self.level)
        for step in 0..<Self.most {
            let search = CarrierSearch(rest)
            // Later searches look at some of the values of the first one.
            if step == 0 { level /= Double(max(search.valueCount, 1)) }
            guard let found = search.first(at: level) else { break }
            values.append(found)
            rest.removeAll { $0.values[found.property] == found.value }
        }
        self.values = values
    }
}

/// The carriers in JSON: a list of objects.
extension ChangeCarriers: Codable {
    package init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([Carrier].self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}

extension ChangeCarriers.Carrier: Codable {
    private enum CodingKeys: String, CodingKey {
        case dimension, value, count, affected
        case othersCount = "others_count"
        case othersAffected = "others_affected"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        property = try container.decode(ChangeCarriers.Property.self, forKey: .dimension)
        value = try container.decode(String.self, forKey: .value)
        count = .init(
            requests: try container.decode(UInt64.self, forKey: .count),
            affected: try container.decode(UInt64.self, forKey: .affected))
        others = .init(
            requests: try container.decode(UInt64.self, forKey: .othersCount),
            affected: try container.decode(UInt64.self, forKey: .othersAffected))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(property, forKey: .dimension)
        try container.encode(value, forKey: .value)
        try container.encode(count.requests, forKey: .count)
        try container.encode(count.affected, forKey: .affected)
        try container.encode(others.requests, forKey: .othersCount)
        try container.encode(others.affected, forKey: .othersAffected)
    }
}

/// The requests of some cells in each slot, as vectors.
private struct SlotCounts {
    var requests: [Double]
    var affected: [Double]
    var before = (requests: 0.0, affected: 0.0)

    init(_ cells: some Sequence<ChangeCarriers.Cell>, slots: Int) {
        (requests, affected) = (Array(repeating: 0, count: slots), Array(repeating: 0, count: slots))
        for cell in cells {
            for (slot, count) in cell.slots.enumerated() {
                requests[slot] += Double(count.requests)
                affected[slot] += Double(count.affected)
            }
            before.requests += Double(cell.before.requests)
            before.affected += Double(cell.before.affected)
        }
    }

    var indices: Range<Int> { requests.indices }

    /// Returns the expected affected requests of a part in each slot, and their variance, if each request is affected with the same
    /// probability (Mantel and Haenszel, Journal of the National Cancer Institute 22, 1959).
    ///
    /// - Parameter share: the share of the affected requests that the part is expected to have, by slot.
    func expectation(of part: SlotCounts, _ share: (Int) -> Double) -> [(mean: Double, variance: Double)] {
        indices.map { slot in
            guard requests[slot] > 0 else { return (0, 0) }
            let mean = min(share(slot) * affected[slot], part.requests[slot])
            let others = (requests[slot] - affected[slot]) / max(requests[slot] - 1, 1)
            return (mean, requests[slot] > 1 ? mean * (1 - share(slot)) * others : 0)
        }
    }
}

/// The search for the one value that explains most.
private struct CarrierSearch {
    /// The fewest affected requests with a value.
    private static let fewest = 5.0
    /// A value can carry a change if its requests are affected at least this many times as often as others, and as before.
    private static let leastRatio = 2.0
    /// The weight of what is common to all in a value's rate before, in affected requests.
    private static let prior = 5.0
    /// The fewest earlier requests whose rate says something.
    private static let fewestBefore = 30.0
    /// The most values whose dispersion is computed, which goes through all cells. Those that explain most come first.
    private static let mostTested = 20

    private let cells: [ChangeCarriers.Cell]
    private let all: SlotCounts
    /// The number of values of properties with two at least.
    private(set) var valueCount = 0
    private var candidates: [Candidate] = []

    private struct Candidate {
        var carrier: ChangeCarriers.Carrier
        var affected: Double
        var mean: Double
        var variance: Double
        /// The gain in log-likelihood if the value has a separate rate.
        var gain: Double
    }

    init(_ cells: [ChangeCarriers.Cell]) {
        self.cells = cells
        all = SlotCounts(cells, slots: cells.first?.slots.count ?? 0)
        for property in ChangeCarriers.Property.allCases {
            let parts = cells.parts(by: property)
            guard parts.count > 1 || (parts.count == 1 && cells.contains { $0.values[property] == nil }) else {
                continue
            }
            valueCount += parts.count
            add(property, parts.map { ($0.value, SlotCounts($0.cells, slots: all.indices.count)) })
        }
        candidates.sort { one, other in
            abs(one.gain - other.gain) > 1e-6 ? one.gain > other.gain : one.carrier.isBefore(other.carrier)
        }
    }

    /// Returns the value that explains most, among those whose excess is less probable than `level` by chance.
    func first(at level: Double) -> ChangeCarriers.Carrier? {
        var tested = 0
        let found = candidates.first { candidate in
            guard tested < Self.mostTested,
                BinomialTail.probability(candidate.affected, candidate.mean, candidate.variance) < level
            else { return false }
            tested += 1
            let (property, value) = (candidate.carrier.property, candidate.carrier.value)
            let groups = [cells.filter { $0.values[property] == value }, cells.filter { $0.values[property] != value }]
            let dispersion = CarrierDispersion.factor(in: groups, slots: all.indices.count)
            return BinomialTail.probability(
                candidate.affected / dispersion, candidate.mean / dispersion, candidate.variance / dispersion) < level
        }
        return found?.carrier
    }

    /// Adds the values of a property that may carry the change.
    private mutating func add(_ property: ChangeCarriers.Property, _ parts: [(value: String, counts: SlotCounts)]) {
        let weights = parts.map { weight($0.counts) }
        let weighted = all.indices.map { slot in
            zip(parts, weights).reduce(all.requests[slot]) { $0 + ($1.1 - 1) * $1.0.counts.requests[slot] }
        }
        for ((value, part), weight) in zip(parts, weights) {
            let expected = all.expectation(of: part) { weight * part.requests[$0] / weighted[$0] }
            if let candidate = candidate(property, value, part, expected) { candidates.append(candidate) }
        }
    }

    /// Returns how often a value's requests were affected before the change, as a multiple of the average; at least 1. A value
    /// that is worse by this multiple was always worse, and does not carry the change.
    private func weight(_ part: SlotCounts) -> Double {
        let usual = (all.before.affected + 0.5) / (all.before.requests + 1)
        return max(1, (part.before.affected + Self.prior) / (part.before.requests * usual + Self.prior))
    }

    private func candidate(
        _ property: ChangeCarriers.Property, _ value: String, _ part: SlotCounts,
        _ expected: [(mean: Double, variance: Double)]
    ) -> Candidate? {
        // A slot without other requests shows nothing.
        let slots = all.indices.filter { part.requests[$0] > 0 && all.requests[$0] > part.requests[$0] }
        func sum(_ figures: (Int) -> Double) -> Double { slots.reduce(0) { $0 + figures($1) } }
        let (requests, affected) = (sum { part.requests[$0] }, sum { part.affected[$0] })
        let others = (requests: sum { all.requests[$0] } - requests, affected: sum { all.affected[$0] } - affected)
        let mean = sum { expected[$0].mean }
        guard affected >= Self.fewest, mean > 0,
            affected / requests >= Self.leastRatio * others.affected / others.requests,
            part.before.requests < Self.fewestBefore
                || affected / requests >= Self.leastRatio * part.before.affected / part.before.requests
        else { return nil }
        let carrier = ChangeCarriers.Carrier(
            property, value, .init(requests: UInt64(requests), affected: UInt64(affected)),
            others: .init(requests: UInt64(others.requests), affected: UInt64(others.affected)))
        return Candidate(
            carrier: carrier, affected: affected, mean: mean, variance: sum { expected[$0].variance },
            gain: Self.likelihood(affected, requests) + Self.likelihood(others.affected, others.requests)
                - Self.likelihood(affected + others.affected, requests + others.requests))
    }

    /// The log-likelihood of a count at the rate that it shows.
    private static func likelihood(_ affected: Double, _ requests: Double) -> Double {
        guard affected > 0, affected < requests else { return 0 }
        let rate = affected / requests
        return affected * log(rate) + (requests - affected) * log(1 - rate)
    }
}

extension ChangeCarriers.Carrier {
    fileprivate func isBefore(_ other: Self) -> Bool {
        let order = ChangeCarriers.Property.allCases
        let (one, two) = (order.firstIndex(of: property) ?? 0, order.firstIndex(of: other.property) ?? 0)
        return (one, value) < (two, other.value)
    }
}

extension [ChangeCarriers.Cell] {
    /// The cells by their value of a property, in the order of the values.
    fileprivate func parts(by property: ChangeCarriers.Property) -> [(value: String, cells: [ChangeCarriers.Cell])] {
        Dictionary(grouping: filter { $0.values[property] != nil }) { $0.values[property] ?? "" }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// The variation of requests on both sides of a division, as a multiple of that of independent requests. It is above 1 because
/// affected requests come in clusters, such as the attempts of one client.
private enum CarrierDispersion {
    /// The median of the square of a standard normal variable.
    private static let medianOfSquare = 0.455
    /// The fewest parts for a median.
    private static let fewestParts = 5
    /// The fewest slots for a variance.
    private static let fewestSlots = 3

    /// Returns the median over the parts of both sides, by each property; at least 1. A median, because another part may carry the
    /// change, too.
    static func factor(in sides: [[ChangeCarriers.Cell]], slots: Int) -> Double {
        var (ofParts, ofSlots) = ([Double](), [Double]())
        for property in ChangeCarriers.Property.allCases {
            for side in sides {
                let parts = side.parts(by: property).map { SlotCounts($0.cells, slots: slots) }
                guard parts.count > 1 else { continue }
                add(parts, of: SlotCounts(side, slots: slots), to: &ofParts, &ofSlots)
            }
        }
        var factors = [1.0]
        if ofParts.count >= fewestParts { factors.append(median(ofParts) / medianOfSquare) }
        if ofSlots.count >= fewestParts { factors.append(median(ofSlots)) }
        if factors.count == 1 { factors += sides.compactMap { overTime(SlotCounts($0, slots: slots)) } }
        return factors.reduce(1, max)
    }

    /// Adds the squares of the deviations of parts of a side, in units of their variance, and the variances of their slots.
    private static func add(
        _ parts: [SlotCounts], of side: SlotCounts, to ofParts: inout [Double], _ ofSlots: inout [Double]
    ) {
        let sums = parts.map { part in
            let expected = side.expectation(of: part) { part.requests[$0] / side.requests[$0] }
            return (
                part: part, expected: expected, mean: expected.reduce(0) { $0 + $1.mean },
                variance: expected.reduce(0) { $0 + $1.variance }, affected: part.affected.reduce(0, +)
            )
        }.filter { $0.variance > 0 }
        guard sums.count > 1 else { return }
        let middle = median(sums.map { $0.affected / $0.mean })
        let usual = middle > 0 ? middle : 1
        for sum in sums {
            let deviation = sum.affected - usual * sum.mean
            ofParts.append(deviation * deviation / (usual * sum.variance))
            let drift = (sum.affected - sum.mean) / sum.variance
            let residuals = zip(sum.part.affected, sum.expected).filter { $1.variance > 0 }.map { affected, expected in
                let rest = affected - expected.mean - drift * expected.variance
                return rest * rest / expected.variance
            }
            guard residuals.count >= fewestSlots else { continue }
            ofSlots.append(residuals.reduce(0, +) / Double(residuals.count - 1))
        }
    }

    /// The variance of a side's slots around its rate, if the side has no parts; `nil` if the rate is 0 or 1.
    private static func overTime(_ side: SlotCounts) -> Double? {
        let (requests, affected) = (side.requests.reduce(0, +), side.affected.reduce(0, +))
        let slots = side.indices.filter { side.requests[$0] > 0 }
        guard affected > 0, affected < requests, slots.count >= fewestSlots else { return nil }
        let rate = affected / requests
        let squares = slots.reduce(0.0) { sum, slot in
            let deviation = side.affected[slot] - side.requests[slot] * rate
            return sum + deviation * deviation / (side.requests[slot] * rate * (1 - rate))
        }
        return squares / Double(slots.count - 1)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard let middle = sorted.indices.last.map({ $0 / 2 }) else { return 0 }
        return sorted.count.isMultiple(of: 2) ? (sorted[middle] + sorted[middle + 1]) / 2 : sorted[middle]
    }
}

/// The upper tail of a sum of counts.
private enum BinomialTail {
    /// Returns the probability of at least `count`, by the binomial distribution with this mean and variance. The variance is at most
    /// the mean.
    static func probability(_ count: Double, _ mean: Double, _ variance: Double) -> Double {
        guard count > mean else { return 1 }
        let chance = min(max(1 - variance / mean, 1e-6), 1 - 1e-9)
        let trials = mean / chance
        guard count < trials else { return exp(trials * log(chance)) }
        return RegularizedBeta(count, trials - count + 1).value(at: chance)
    }
}
