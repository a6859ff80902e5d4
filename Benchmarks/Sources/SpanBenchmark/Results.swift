import Foundation

/// The rounds' figures of each contender.
struct Results {
    private var order: [String]
    private var figures: [String: [Double]] = [:]

    init(_ order: [String]) {
        self.order = order
    }

    mutating func add(_ nanoseconds: Double, of name: String) {
        if !order.contains(name) { order.append(name) }
        figures[name, default: []].append(nanoseconds)
    }

    /// Prints the median of each contender and its ratio to that of `name`.
    func show(against name: String) {
        let base = median(name)
        for name in order {
            let (label, median) = (name.padding(toLength: 46, withPad: " ", startingAt: 0), median(name))
            print(label + String(format: "%8.0f ns %7.2f", median, median / base))
        }
    }

    private func median(_ name: String) -> Double {
        let sorted = (figures[name] ?? [.nan]).sorted()
        return sorted[sorted.count / 2]
    }
}
