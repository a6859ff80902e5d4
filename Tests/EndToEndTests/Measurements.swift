import MartletReports
import MartletStorage
import Testing

/// A program's own measurements of its requests, and the precision that a report must have.
struct Measurements {
    private var series: [String: (seconds: [Double], bytes: UInt64)] = [:]

    init(_ measured: [PythonSDK.Series]) {
        for one in measured {
            let key = [one.service, one.kind, one.endpoint, "\(one.status)"].joined(separator: " ")
            let known = series[key] ?? ([], 0)
            series[key] = (known.seconds + one.seconds, known.bytes + one.bytes)
        }
    }

    func expect(in report: Report, _ histogram: PythonSDK.Histogram) throws {
        let keys = report.rows.map { row in report.by.map { row.shown($0) }.joined(separator: " ") }
        #expect(Set(keys) == Set(series.keys))
        for (key, row) in zip(keys, report.rows) {
            guard let (seconds, bytes) = series[key] else { continue }
            let exact = seconds.sorted()
            let measures = row.measures
            #expect(measures.count == UInt64(exact.count), "\(key)")
            #expect(measures.bytes.sent == bytes, "\(key)")
            let comesFromSpans = key.hasPrefix("traced ")
            #expect(measures.fromSpans == (comesFromSpans ? measures.count : nil), "\(key)")
            #expect(isClose(measures.latency.mean, exact.reduce(0, +) / Double(exact.count) * 1000, 1e-6), "\(key)")
            #expect(isClose(measures.latency.max, (exact.last ?? 0) * 1000, 1e-6), "\(key)")
            for (q, found) in [(0.5, measures.latency.p50), (0.95, measures.latency.p95), (0.99, measures.latency.p99)]
            {
                let value = exact[Int((q * Double(exact.count)).rounded(.up)) - 1] * 1000
                // The SDK may know a few values only at scale 3, whose buckets are 9 % wide.
                let isRight =
                    histogram == .explicit && !comesFromSpans
                    ? isInBucket(found, of: value) : isClose(found, value, 0.09)
                #expect(isRight, "\(key): \(found) ms is no \(q) quantile, which is \(value) ms")
            }
        }
    }

    /// The bounds of the buckets in `python_sdk.py`, in milliseconds.
    private static let bounds = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000.0]

    private func isInBucket(_ found: Double, of exact: Double) -> Bool {
        let low = Self.bounds.last { $0 < exact } ?? 0
        let high = Self.bounds.first { $0 >= exact } ?? .infinity
        return found >= low * 0.997 && found <= high * 1.003
    }

    private func isClose(_ found: Double, _ exact: Double, _ share: Double) -> Bool {
        abs(found - exact) <= exact * share
    }
}
