/// Least squares with coefficients of at least 0: how often each served endpoint makes a request.
enum LeastSquares {
    private static let rounds = 30

    /// Returns the coefficients, coordinate by coordinate.
    ///
    /// - Parameters:
    ///   - columns: for each endpoint, its requests by slot.
    ///   - target: the requests made, by slot.
    static func nonNegative(_ columns: [[Double]], _ target: [Double]) -> [Double] {
        let products = columns.map { one in columns.map { dot(one, $0) } }
        let wanted = columns.map { dot($0, target) }
        var result = [Double](repeating: 0, count: columns.count)
        for _ in 0..<rounds {
            for index in columns.indices where products[index][index] > 0 {
                let error = wanted[index] - dot(products[index], result)
                result[index] = max(0, result[index] + error / products[index][index])
            }
        }
        return result
    }

    /// Returns the sum of the squares of what the coefficients do not explain.
    static func rest(_ columns: [[Double]], _ target: [Double], _ coefficients: [Double]) -> Double {
        target.indices.reduce(0) { sum, slot in
            let off = columns.indices.reduce(target[slot]) { $0 - coefficients[$1] * columns[$1][slot] }
            return sum + off * off
        }
    }

    /// Whether the other endpoints do not explain the requests: without this one, a third more of them stays unexplained. Endpoints
    /// that are always served together cannot be distinguished, nor can two within a minute.
    static func isNeeded(_ index: Int, _ columns: [[Double]], _ target: [Double], _ coefficients: [Double]) -> Bool {
        let others = columns.indices.filter { $0 != index }.map { columns[$0] }
        return rest(columns, target, coefficients) < 0.75 * rest(others, target, nonNegative(others, target))
    }

    static func dot(_ one: [Double], _ other: [Double]) -> Double {
        var sum = 0.0
        for index in 0..<min(one.count, other.count) { sum += one[index] * other[index] }
        return sum
    }
}

extension RowSeries {
    /// Returns the requests of a range in steps of 30 s, so that a request and those that it makes meet in the same step.
    func folded(_ range: Range<Slot>) -> [Double] {
        let steps = range.count / 3
        let first = range.upperBound - steps * 3
        return (0..<steps).map { step in (0..<3).reduce(0) { $0 + requests(in: first + step * 3 + $1) } }
    }
}

extension RowTable {
    /// Returns the requests of several rows together, in steps of 30 s.
    func folded(_ indexes: [Int], _ range: Range<Slot>) -> [Double] {
        indexes.reduce(into: Array(repeating: 0, count: range.count / 3)) { sum, index in
            for (step, count) in self[index].folded(range).enumerated() { sum[step] += count }
        }
    }
}

extension [Double] {
    var total: Double { reduce(0, +) }
}
