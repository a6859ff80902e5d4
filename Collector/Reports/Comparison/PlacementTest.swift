/// Mann and Whitney's test of whether requests of one window take longer than those of another, for requests that depend on
/// each other within blocks.
///
/// The placement of a request is the share of the other window's requests that took less time, those of the same bucket
/// counted half. The mean placement is ``superiority``, and its variance is that of two means (DeLong, DeLong and
/// Clarke-Pearson: "Comparing the Areas under Two or More Correlated Receiver Operating Characteristic Curves", Biometrics 44,
/// 1988; Obuchowski: "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53, 1997).
struct PlacementTest: Sendable {
    /// The probability that a request after takes longer than one before, 0...1.
    let superiority: Double
    /// The variance of ``superiority`` if nothing has changed and requests do not depend on each other.
    let independentVariance: Double
    private let variance: Double
    private let studentT: StudentT

    init(before: WindowCounts, after: WindowCounts) {
        let placed = Self.mean(of: Self.placements(of: after.totals, in: before.totals), in: after)
        let reversed = Self.mean(of: Self.placements(of: before.totals, in: after.totals), in: before)
        superiority = placed.mean
        independentVariance = Self.independentVariance(before.totals, after.totals)
        // The placements before are 1 less these, which vary as much.
        variance = placed.variance + reversed.variance
        studentT = StudentT(degreesOfFreedom: Double(min(before.requests.count, after.requests.count) - 1))
    }

    /// Cliff's delta, -1...1.
    var cliffsDelta: Double { 2 * superiority - 1 }

    /// The probability of a difference at least this large if nothing has changed.
    ///
    /// The variance is at least that of independent requests. Blocks in which all requests fall into one bucket have none.
    var pValue: Double {
        let variance = max(variance, independentVariance)
        return variance > 0 ? studentT.twoSided((superiority - 0.5) / variance.squareRoot()) : 1
    }

    /// Returns the placement of each bucket with requests among those of another window.
    private static func placements(of requests: [Double], in totals: [Double]) -> [Double] {
        let size = totals.reduce(0, +)
        var below = 0.0
        return zip(requests, totals).map { requests, count in
            defer { below += count }
            return requests > 0 ? (below + count / 2) / size : 0
        }
    }

    private static func mean(of placements: [Double], in window: WindowCounts) -> BlockMean {
        let sums = window.buckets.map { block in
            block.reduce(0) { $0 + $1.count * placements[$1.index] }
        }
        return BlockMean(sums: sums, sizes: window.requests)
    }

    private static func independentVariance(_ before: [Double], _ after: [Double]) -> Double {
        let (sizeBefore, sizeAfter) = (before.reduce(0, +), after.reduce(0, +))
        let size = sizeBefore + sizeAfter
        let ties = zip(before, after).reduce(0) { sum, counts in
            let tied = counts.0 + counts.1
            return sum + (tied * tied * tied - tied)
        }
        return (size + 1 - ties / (size * (size - 1))) / (12 * sizeBefore * sizeAfter)
    }
}
