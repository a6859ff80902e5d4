/// Fisher's exact test: the probability of a table of two by two counts, or of a less probable one, among all tables with
/// the same sums of rows and columns.
///
/// Each probability is computed from its neighbour's as a multiple of the largest. So the error grows by a rounding with each
/// step and not with the counts: logarithms of factorials of 10,000,000 would leave 7 digits.
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
        // Two tables that are equally probable may differ by a rounding.
        let limit = seen * (1 + 1e-9)
        let all = (above + below.dropFirst()).sorted()
        return all.prefix { $0 <= limit }.reduce(0, +) / all.reduce(0, +)
    }

    /// The sums of a table's first row, first column, and of all its cells.
    private struct Margins {
        let row: Double
        let column: Double
        let all: Double

        /// The numbers that the first cell may have.
        var numbers: ClosedRange<Double> { max(0, row + column - all)...min(row, column) }

        /// The most probable of them.
        var mode: Double {
            let mode = ((row + 1) * (column + 1) / (all + 2)).rounded(.down)
            return min(max(mode, numbers.lowerBound), numbers.upperBound)
        }

        /// Returns the probabilities of numbers in the first cell as multiples of the first's, as long as they matter.
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
