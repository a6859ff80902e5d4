import Foundation

/// Two rounds that ran one after the other.
struct Pair {
    var bare: Round
    var other: Round

    func ratio(_ figure: KeyPath<Round, Double>) -> Double { other[keyPath: figure] / bare[keyPath: figure] }
}

/// A worker of some mode against a bare one. Bare against bare is the floor: what it is away from 1 is noise.
struct Comparison {
    let load: Load
    let mode: Mode
    var pairs: [Pair] = []

    static func table(_ comparisons: [Comparison]) -> String {
        let head = [
            "concurrency", "compared", "bare µs", "other µs", "CPU ratio [quartiles]", "of totals",
            "bare p50 ms", "p50 ratio", "p99 ratio", "requests each",
        ]
        let rows = [head] + comparisons.map(\.row)
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { String(repeating: " ", count: $1 - $0.count) + $0 }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private var row: [String] {
        let bareCPU = pairs.map(\.bare.cpu)
        let otherCPU = pairs.map(\.other.cpu)
        let ratios = pairs.map { $0.ratio(\.cpu) }
        return [
            "\(load.concurrency)", "\(mode) : bare", format(bareCPU.median, "%.1f"), format(otherCPU.median, "%.1f"),
            format(ratios.median, "%.3f") + " [" + format(ratios.quantile(0.25), "%.3f") + ", "
                + format(ratios.quantile(0.75), "%.3f") + "]",
            // A median leaves out what few rounds have, an upload for instance; the totals have all of it.
            format(otherCPU.reduce(0, +) / bareCPU.reduce(0, +), "%.3f"), format(pairs.map(\.bare.p50).median, "%.3f"),
            format(pairs.map { $0.ratio(\.p50) }.median, "%.3f"), format(pairs.map { $0.ratio(\.p99) }.median, "%.3f"),
            "\(pairs.count * load.requests)",
        ]
    }

    private func format(_ value: Double, _ format: String) -> String { String(format: format, value) }
}

extension [Double] {
    fileprivate var median: Double { quantile(0.5) }

    /// Linear between the two values next to it.
    fileprivate func quantile(_ share: Double) -> Double {
        let values = sorted()
        let position = share * Double(values.count - 1)
        let below = Int(position)
        let above = Swift.min(below + 1, values.count - 1)
        return values[below] + (values[above] - values[below]) * (position - Double(below))
    }
}
