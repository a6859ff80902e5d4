import Foundation

/// Mann and Whitney's test of whether requests of one window take longer than those of another. It allows requests to depend on
/// each other within blocks.
///
/// The placement of a request is the share of the other window's requests that took less time; requests of the same bucket count
/// half. The mean placement is ``superiority``, and its variance is that of two means (DeLong, DeLong and Clarke-Pearson:
/// "Comparing the Areas under Two or More Correlated Receiver Operating Characteristic Curves", Biometrics 44, 1988; Obuchowski:
/// "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53, 1997).
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
        // The placements before are 1 minus these, so they vary equally.
        variance = placed.variance + reversed.variance
        studentT = StudentT(degreesOfFreedom: Double(min(before.requests.count, after.requests.count) - 1))
    }

    /// Cliff's delta, -1...1.
    var cliffsDelta: Double { 2 * superiority - 1 }

    /// The probability of a difference at least this large if nothing has changed.
    ///
    /// The variance is at least that of independent requests. Blocks have no variance if all requests fall into one bucket.
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

/// Fisher's exact test: the probability of a table of two by two counts, or of a less probable one, among all tables with the same
/// sums of rows and columns.
///
/// Each probability is computed from its neighbour's as a multiple of the largest. So the error grows by one rounding per step
/// instead of with the counts: logarithms of factorials of 10,000,000 would leave 7 digits.
enum FisherExactTest {
    /// - Parameters:
    ///   - one, other: the rows of the table, each a number with and without the property; whole numbers below 2^52.
    /// - Complexity: the number of tables whose probability is above 1e-300 of the largest, about 70 standard deviations.
    static func twoSided(_ one: (with: Double, without: Double), _ other: (with: Double, without: Double)) -> Double {
        let table = Margins(
            row: one.with + one.without, column: one.with + other.with,
            all: one.with + one.without + other.with + other.without)
        let mode = table.mode
        let above = table.weights(from: mode, to: table.numbers.upperBound, by: 1)
        let below = table.weights(from: mode, to: table.numbers.lowerBound, by: -1)
        let distance = one.with - mode
        let weights = distance < 0 ? below : above
        let seen = Int(exactly: abs(distance)).flatMap { weights.indices.contains($0) ? weights[$0] : nil } ?? 0
        // Rounding may separate two tables with equal probability.
        let limit = seen * (1 + 1e-9)
        let all = (above + below.dropFirst()).sorted()
        return all.prefix { $0 <= limit }.reduce(0, +) / all.reduce(0, +)
    }

    /// The sums of a table's first row, first column, and of all its cells.
    private struct Margins {
        let row: Double
        let column: Double
        let all: Double

        /// The values that the first cell may have.
        var numbers: ClosedRange<Double> { max(0, row + column - all)...min(row, column) }

        /// The most probable of these values.
        var mode: Double {
            let mode = ((row + 1) * (column + 1) / (all + 2)).rounded(.down)
            return min(max(mode, numbers.lowerBound), numbers.upperBound)
        }

        /// Returns the probabilities of values of the first cell as multiples of the first one's, until they are negligible.
        func weights(from first: Double, to last: Double, by step: Double) -> [Double] {
            var (number, weights) = (first, [1.0])
            while number != last, weights[weights.count - 1] > 1e-300 {
                let ratio = step > 0 ? ratio(after: number) : 1 / ratio(after: number - 1)
                weights.append(weights[weights.count - 1] * ratio)
                number += step
            }
            return weights
        }

        /// Returns the probability of `number` + 1 as a multiple of the probability of `number`.
        private func ratio(after number: Double) -> Double {
            (row - number) / (number + 1) * ((column - number) / (all - row - column + number + 1))
        }
    }
}
