/// Least squares with coefficients of at least 0: how often each served endpoint makes a request.
enum LeastSquares {
    /// Returns the coefficients, by the method of active sets (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).
    /// Endpoints of a busy service are served in nearly the same proportions all the time, so a method that only comes nearer to the
    /// solution with each round would need thousands of rounds.
    ///
    /// - Parameters:
    ///   - columns: for each endpoint, its requests by slot.
    ///   - target: the requests made, by slot.
    static func nonNegative(_ columns: [[Double]], _ target: [Double]) -> [Double] {
        var solution = ActiveSet(
            products: columns.map { one in columns.map { dot(one, $0) } }, wanted: columns.map { dot($0, target) })
        for _ in 0..<3 * columns.count where solution.addBest() { solution.settle() }
        return solution.coefficients
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

/// The coefficients above 0 of a least squares problem, by its normal equations.
private struct ActiveSet {
    /// The part of a column's square that the others must leave unexplained. Otherwise they explain it, but for rounding.
    private static let independent = 1e-9

    let products: [[Double]]
    let wanted: [Double]
    private(set) var coefficients: [Double]
    private var active: [Int] = []
    /// Columns that the active ones explain.
    private var dependent: Set<Int> = []

    init(products: [[Double]], wanted: [Double]) {
        (self.products, self.wanted) = (products, wanted)
        coefficients = Array(repeating: 0, count: wanted.count)
    }

    /// Adds the column that reduces the rest most. Returns whether there is one.
    mutating func addBest() -> Bool {
        let gains = wanted.indices.map { index in
            wanted[index] - active.reduce(0) { $0 + products[index][$1] * coefficients[$1] }
        }
        let candidates = wanted.indices.filter {
            gains[$0] > Self.independent * wanted[$0] && !active.contains($0) && !dependent.contains($0)
        }
        guard let best = candidates.max(by: { gains[$0] < gains[$1] }) else { return false }
        active.append(best)
        return true
    }

    /// Solves the equations of the active columns. Columns whose coefficients would be below 0 become inactive.
    mutating func settle() {
        while let newest = active.last {
            guard let solved = solved() else {
                dependent.insert(newest)
                active.removeLast()
                return
            }
            let negative = active.indices.filter { solved[$0] < 0 }
            let steps = negative.map { coefficients[active[$0]] / (coefficients[active[$0]] - solved[$0]) }
            let step = steps.min() ?? 1
            for (place, index) in active.enumerated() {
                coefficients[index] += step * (solved[place] - coefficients[index])
            }
            guard let first = steps.firstIndex(of: step) else { return }
            coefficients[active[negative[first]]] = 0
            active.remove(at: negative[first])
        }
    }

    /// Returns the solution of the equations of the active columns by Cholesky's method; `nil` if they depend on each other.
    private func solved() -> [Double]? {
        var factor: [[Double]] = []
        for (row, index) in active.enumerated() {
            var line: [Double] = []
            for column in 0..<row {
                let sum = (0..<column).reduce(products[index][active[column]]) { $0 - line[$1] * factor[column][$1] }
                line.append(sum / factor[column][column])
            }
            let rest = line.reduce(products[index][index]) { $0 - $1 * $1 }
            guard rest > Self.independent * products[index][index] else { return nil }
            factor.append(line + [rest.squareRoot()])
        }
        return Self.substituted(factor, active.map { wanted[$0] })
    }

    private static func substituted(_ factor: [[Double]], _ right: [Double]) -> [Double] {
        var values = right
        for row in values.indices {
            values[row] = (0..<row).reduce(values[row]) { $0 - factor[row][$1] * values[$1] } / factor[row][row]
        }
        for row in values.indices.reversed() {
            let sum = (row + 1..<values.count).reduce(values[row]) { $0 - factor[$1][row] * values[$1] }
            values[row] = sum / factor[row][row]
        }
        return values
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
    /// Served endpoints of a service that are distinguished at most.
    private static let distinguished = 30

    /// Returns the busiest served endpoints. The others make few requests, and each costs time and steps.
    func distinguished(_ served: [Int]) -> [Int] {
        guard served.count > Self.distinguished else { return served }
        let counts = served.map { (index: $0, count: self[$0].durations.requests(of: MinuteHistory.whole)) }
        return counts.sorted { ($1.count, $0.index) < ($0.count, $1.index) }.prefix(Self.distinguished).map(\.index)
            .sorted()
    }

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
