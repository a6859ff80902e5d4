import MartletTelemetry

/// Prometheus' text format, version 0.0.4 (Prometheus documentation, "Exposition formats").
package struct PrometheusText: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    private(set) var text = ""

    /// Begins a metric. All of its samples must be added before the next metric.
    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a metric with one sample.
    mutating func add(
        _ name: String, _ kind: Kind, _ help: String, _ value: some LosslessStringConvertible,
        _ labels: PrometheusLabels = [:]
    ) {
        begin(name, kind, help)
        add(name, value, labels)
    }

    mutating func add(_ name: String, _ value: some LosslessStringConvertible, _ labels: PrometheusLabels = [:]) {
        write(name, labels, Self.number(value))
    }

    mutating func add(_ name: String, _ histogram: ExplicitHistogram, _ labels: PrometheusLabels = [:]) {
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

    /// Returns a number in its shortest form, such as `0.5` or `10`. Other programs write bounds this way.
    private static func number(_ value: some LosslessStringConvertible) -> String {
        let text = "\(value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// The labels of a sample, as text in Prometheus' format.
struct PrometheusLabels: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private(set) var text = ""

    /// Leaves out a label without a value, which means the same to Prometheus.
    init(dictionaryLiteral elements: (String, String?)...) {
        for (name, value) in elements where !(value ?? "").isEmpty { append(name, value ?? "") }
    }

    func adding(_ name: String, _ value: String) -> PrometheusLabels {
        var labels = self
        labels.append(name, value)
        return labels
    }

    private mutating func append(_ name: String, _ value: String) {
        if !text.isEmpty { text += "," }
        text += "\(name)=\"\(Self.escaped(value))\""
    }

    /// Escapes backslash, quotation mark and line feed, as the format requires. Other control characters are not defined in the
    /// format and may stop a parser, so each becomes U+FFFD.
    private static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f || $0 == 0x22 || $0 == 0x5c }) else { return value }
        return value.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += #"\\"#
            case "\"": result += #"\""#
            case "\n": result += #"\n"#
            case _ where scalar.value < 0x20 || scalar.value == 0x7f: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

/// A histogram with fixed upper bounds, as in Prometheus. Its counts only grow.
package struct ExplicitHistogram: Sendable, Equatable {
    /// Bounds in seconds, as the semantic conventions advise for the duration of HTTP requests ("HTTP Metrics").
    package static let requestBounds = BucketBounds([
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ])
    /// Bounds in seconds for the duration of commits, from one to memory to one to a failing disk.
    static let commitBounds = BucketBounds([
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ])

    package let bounds: BucketBounds
    /// A count for each bound, and one for the values above the last bound.
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0

    package init(bounds: BucketBounds) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.values.count + 1)
    }

    package var count: UInt64 { counts.reduce(0, &+) }

    package mutating func record(_ value: Double) {
        counts[bounds.index(of: value)] &+= 1
        sum += value
    }

    /// Adds the values of a sketch. Counts and sum are exact, but a value close to a bound may be counted on the wrong side:
    /// see ``BucketBounds/add(_:to:)``. The caller adds point by point, so that no bucket ever shrinks.
    package mutating func add(_ sketch: ExponentialHistogram) {
        bounds.add(sketch, to: &counts)
        sum += sketch.sum
    }

    /// Adds a histogram with the same bounds.
    package mutating func add(_ other: ExplicitHistogram) {
        for (index, count) in other.counts.enumerated() where count > 0 { counts[index] &+= count }
        sum += other.sum
    }
}

/// Upper bounds of histogram buckets, as in Prometheus. The values of many sketches are counted in these buckets, so the
/// positions of the bounds among the buckets of an ``ExponentialHistogram`` are computed only once.
package struct BucketBounds: Sendable, Equatable {
    /// The bounds, ascending. A value belongs to the first bucket whose bound is at least the value.
    package let values: [Double]
    /// The index of the last sketch bucket whose middle is not above a bound: an array for each scale, with an element for each
    /// bound.
    private let lastIndices: [[Int32]]

    package init(_ values: [Double]) {
        self.values = values
        lastIndices = ExponentialHistogram.scales.map { scale in
            values.map { ExponentialHistogram.lastIndex(notAbove: $0, scale) }
        }
    }

    /// Adds the number of values in each bucket to `counts`, which has one element more than the bounds.
    ///
    /// All values of a sketch's bucket are counted at the bucket's middle, limited to the range from the smallest to the
    /// largest value. At ``ExponentialHistogram/defaultScale``, only a value within 0.28 % of a bound can be counted on the
    /// wrong side.
    package func add(_ sketch: ExponentialHistogram, to counts: inout [UInt64]) {
        guard !sketch.isMixed else {
            for part in sketch.parts { add(part, to: &counts) }
            return
        }
        let lastIndices = lastIndices[Int(sketch.scale - ExponentialHistogram.scales.lowerBound)]
        let end = sketch.max.map(index) ?? values.count
        var current = Swift.min(sketch.min.map(index) ?? 0, end)
        if sketch.zeroCount > 0 { counts[index(of: 0)] &+= sketch.zeroCount }
        for (position, count) in sketch.buckets.enumerated() where count > 0 {
            let index = sketch.offset + Int32(position)
            while current < end, index > lastIndices[current] { current += 1 }
            counts[current] &+= count
        }
    }

    /// Returns the index of the first bound that is at least the value; the number of bounds if there is no such bound.
    package func index(of value: Double) -> Int {
        values.firstIndex { value <= $0 } ?? values.count
    }
}
