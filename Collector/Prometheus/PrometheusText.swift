/// Prometheus' text format, version 0.0.4 (Prometheus documentation, "Exposition formats").
package struct PrometheusText: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package private(set) var text = ""

    package init() {}

    /// Begins a metric, which all its samples have to follow.
    package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    package mutating func add(_ name: String, _ value: UInt64, _ labels: PrometheusLabels = [:]) {
        write(name, labels, "\(value)")
    }

    package mutating func add(_ name: String, _ value: Double, _ labels: PrometheusLabels = [:]) {
        write(name, labels, Self.number(value))
    }

    package mutating func add(_ name: String, _ histogram: ExplicitHistogram, _ labels: PrometheusLabels = [:]) {
        var seen: UInt64 = 0
        for (index, count) in histogram.counts.enumerated() {
            seen &+= count
            let bound = index < histogram.bounds.values.count ? Self.number(histogram.bounds.values[index]) : "+Inf"
            write(name + "_bucket", labels.adding("le", bound), "\(seen)")
        }
        write(name + "_sum", labels, Self.number(histogram.sum))
        write(name + "_count", labels, "\(seen)")
    }

    private mutating func write(_ name: String, _ labels: PrometheusLabels, _ value: String) {
        text += labels.text.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels.text)} \(value)\n"
    }

    /// Returns a number such as `0.5` or `10`, as short as possible, which is how other programs write bounds.
    private static func number(_ value: Double) -> String {
        let text = "\(value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
