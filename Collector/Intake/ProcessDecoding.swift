import MartletOTLP
import MartletStorage
import MartletTelemetry

/// Decodes the metrics of a process into points.
struct ProcessDecoding {
    private let times: AcceptedTimes
    private var intervals: [Interval: ProcessPoint] = [:]
    /// For each end, one of the intervals that end there.
    private var ends: [UnixNanoseconds: Interval] = [:]
    private(set) var totals: [ProcessTotal] = []

    fileprivate struct Interval: Hashable {
        let start: UnixNanoseconds
        let end: UnixNanoseconds

        var withoutLength: Interval { Interval(start: end, end: end) }
    }

    init(_ times: AcceptedTimes) {
        self.times = times
    }

    /// In the order of their ends.
    var points: [ProcessPoint] { intervals.values.sorted { ($0.end, $0.start) < ($1.end, $1.start) } }

    var isEmpty: Bool { intervals.isEmpty && totals.isEmpty }

    mutating func take(_ metric: OTLPMetric, as process: ProcessMetric, _ refusals: inout Refusals) {
        guard intervals.count + totals.count + metric.pointCount <= IntakeLimits.maxProcessPoints else {
            return refusals.add("the request has too many points of a process", count: metric.pointCount)
        }
        switch (process.kind, metric.data) {
        case (.counter(let parts), .sum(let sum)): take(sum, process, parts, &refusals)
        case (.level(let gauge), .sum(let sum)) where sum.aggregationTemporality == .cumulative:
            take(sum.dataPoints, process, gauge, &refusals)
        case (.level(let gauge), .gauge(let values)): take(values.dataPoints, process, gauge, &refusals)
        case (.delay(let gauge), .histogram(let delays)) where delays.aggregationTemporality == .delta:
            take(delays.dataPoints, process, gauge, &refusals)
        default: refusals.add("the process's metric has an unknown form", count: metric.pointCount)
        }
    }

    // MARK: The forms of metrics

    private mutating func take(
        _ sum: OTLPSum, _ process: ProcessMetric, _ parts: [String: ProcessCounter], _ refusals: inout Refusals
    ) {
        for point in sum.dataPoints {
            let part = process.attributes.lazy.compactMap { point.attributes.text($0) }.first
            // A point without the attribute counts all parts together.
            let counter = part.map { parts[$0] } ?? parts.values.min { $0.rawValue < $1.rawValue }
            guard let counter else {
                refusals.ignore(1)
                continue
            }
            guard
                let (value, interval) = accepted(
                    point.figure(process), point.startTimeUnixNano, point.timeUnixNano, &refusals)
            else { continue }
            switch sum.aggregationTemporality {
            // Without a start, the length of the interval is unknown.
            case .delta where interval.start == 0: self[interval.withoutLength].add(value, to: counter)
            case .delta: self[interval].add(value, to: counter)
            case .cumulative:
                totals.append(ProcessTotal(counter, start: interval.start, end: interval.end, value: value))
            case .unspecified, .UNRECOGNIZED: refusals.add("the sum is neither delta nor cumulative")
            }
        }
    }

    private mutating func take(
        _ points: [OTLPNumberDataPoint], _ process: ProcessMetric, _ gauge: ProcessGauge, _ refusals: inout Refusals
    ) {
        // A level in parts, such as threads by state, is the sum of the parts.
        var levels: [UnixNanoseconds: UInt64] = [:]
        for point in points {
            guard let (value, _) = accepted(point.figure(process), point.timeUnixNano, point.timeUnixNano, &refusals)
            else { continue }
            levels[point.timeUnixNano] = min(levels[point.timeUnixNano] ?? 0, .max - value) + value
        }
        for (time, value) in levels {
            if let interval = ends[time] ?? Interval(time, time) { self[interval].statistics.add(value, of: gauge) }
        }
    }

    private mutating func take(
        _ points: [OTLPHistogramDataPoint], _ process: ProcessMetric, _ gauge: ProcessGauge, _ refusals: inout Refusals
    ) {
        for point in points {
            let figure = point.count > 0 && point.hasSum ? UInt64(figure: point.sum * process.scale) : nil
            guard let (sum, interval) = accepted(figure, point.startTimeUnixNano, point.timeUnixNano, &refusals)
            else { continue }
            let max = point.hasMax ? UInt64(figure: point.max * process.scale) : nil
            self[interval].statistics.add(
                ProcessStatistics.Samples(count: point.count, sum: sum, max: max ?? sum / point.count), of: gauge)
        }
    }

    /// Returns the value of a point with its interval. Counts the point as refused, and returns `nil`, if one of them is
    /// impossible or if the time is not accepted.
    private func accepted(
        _ value: UInt64?, _ start: UnixNanoseconds, _ end: UnixNanoseconds, _ refusals: inout Refusals
    ) -> (UInt64, Interval)? {
        guard let value, let interval = Interval(start, end) else {
            refusals.add("the value or the time of a process's figure is impossible")
            return nil
        }
        do throws(PointRefusal) {
            try times.check(start, end)
            return (value, interval)
        } catch {
            refusals.add(error.reason)
            return nil
        }
    }

    /// The point of an interval. It is created if it is missing.
    private subscript(_ interval: Interval) -> ProcessPoint {
        get {
            intervals[interval]
                ?? ProcessPoint(start: interval.start, end: interval.end, statistics: ProcessStatistics())
        }
        set {
            intervals[interval] = newValue
            if ends[interval.end] == nil { ends[interval.end] = interval }
        }
    }
}

extension ProcessDecoding.Interval {
    /// `nil` if the interval ends before it starts, or if its end does not fit in the store's 63 bits, which last until 2262.
    fileprivate init?(_ start: UnixNanoseconds, _ end: UnixNanoseconds) {
        guard end > 0, start <= end, end <= UInt64(Int64.max) else { return nil }
        (self.start, self.end) = (start, end)
    }
}

extension OTLPNumberDataPoint {
    /// The value in the unit of ``ProcessStatistics``; `nil` if it is missing or impossible.
    fileprivate func figure(_ process: ProcessMetric) -> UInt64? {
        switch value {
        case .asInt(let number)? where number >= 0 && process.scale == 1: UInt64(number)
        case .asInt(let number)?: UInt64(figure: Double(number) * process.scale)
        case .asDouble(let number)?: UInt64(figure: number * process.scale)
        case nil: nil
        }
    }
}

extension UInt64 {
    /// `nil` if the number is negative, not a number, or too large to be added up.
    fileprivate init?(figure: Double) {
        guard figure >= 0, figure < 9e18 else { return nil }
        self.init(figure)
    }
}
