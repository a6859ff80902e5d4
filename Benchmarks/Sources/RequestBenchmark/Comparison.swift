import Foundation

/// Two rounds that ran one after the other.
struct Pair {
    /// The round with capture off.
    var off: Round
    var other: Round

    func ratio(_ figure: KeyPath<Round, Double>) -> Double { other[keyPath: figure] / off[keyPath: figure] }
}

/// Pairs of rounds with capture on against off, or off against off. The second kind is the floor: its distance from 1 is noise.
struct Comparison {
    let load: Load
    let isCapturing: Bool
    var pairs: [Pair] = []

    static func table(_ comparisons: [Comparison]) -> String {
        let head = [
            "concurrency", "compared", "off µs", "CPU ratio [quartiles]", "of totals", "off p50 ms",
            "p50 ratio [quartiles]", "p99 ratio", "requests each",
        ]
        let rows = [head] + comparisons.map(\.row)
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { String(repeating: " ", count: $1 - $0.count) + $0 }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private var row: [String] {
        let off = pairs.map(\.off.cpu).reduce(0, +)
        return [
            "\(load.concurrency)", isCapturing ? "on : off" : "off : off", format(pairs.map(\.off.cpu).median, "%.1f"),
            quartiles(\.cpu),
            // A median leaves out the cost of rare events, such as an upload. The totals include it.
            format(pairs.map(\.other.cpu).reduce(0, +) / off, "%.3f"), format(pairs.map(\.off.p50).median, "%.3f"),
            quartiles(\.p50), format(pairs.map { $0.ratio(\.p99) }.median, "%.3f"), "\(pairs.count * load.requests)",
        ]
    }

    private func quartiles(_ figure: KeyPath<Round, Double>) -> String {
        let ratios = pairs.map { $0.ratio(figure) }
        return format(ratios.median, "%.3f") + " [" + format(ratios.quantile(0.25), "%.3f") + ", "
            + format(ratios.quantile(0.75), "%.3f") + "]"
    }

    private func format(_ value: Double, _ format: String) -> String { String(format: format, value) }
}

extension [Double] {
    fileprivate var median: Double { quantile(0.5) }

    /// Returns the quantile at `share` (0 to 1), interpolated linearly between the two nearest values.
    fileprivate func quantile(_ share: Double) -> Double {
        let values = sorted()
        let position = share * Double(values.count - 1)
        let below = Int(position)
        let above = Swift.min(below + 1, values.count - 1)
        return values[below] + (values[above] - values[below]) * (position - Double(below))
    }
}
