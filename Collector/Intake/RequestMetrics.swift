import MartletOTLP
import MartletStorage
import MartletTelemetry

/// The requests that a metric measures.
struct MeasuredRequests: Hashable {
    var kind: RequestKind
    /// The conventions for the names of the attributes.
    var conventions = RequestConventions.http
}

/// A metric of the durations of requests.
struct DurationMetric {
    var requests: MeasuredRequests
    /// The unit of the durations in seconds; `nil` if the unit is unknown.
    var secondsPerUnit: Double?

    /// `nil` if the metric does not measure durations.
    init?(_ metric: EncodedMetric) {
        guard let requests = Self.requests[MetricName.stable(of: metric.name)] else { return nil }
        self.requests = requests
        // Before the stable names, durations were in milliseconds.
        let isStable = MetricName.stable(of: metric.name) == metric.name
        secondsPerUnit = metric.unit.isEmpty ? (isStable ? 1 : 1e-3) : Self.seconds[metric.unit]
    }

    private static let requests = [
        MetricName.clientDuration: MeasuredRequests(kind: .client),
        MetricName.serverDuration: MeasuredRequests(kind: .server),
        MetricName.databaseDuration: MeasuredRequests(kind: .client, conventions: .database),
        MetricName.messagingDuration: MeasuredRequests(kind: .client, conventions: .messaging),
    ]

    /// The length of a unit in seconds, by its name: UCUM's names, and others that some senders write.
    private static let seconds = [
        "s": 1, "ms": 1e-3, "us": 1e-6, "\u{b5}s": 1e-6, "\u{3bc}s": 1e-6, "ns": 1e-9, "second": 1, "seconds": 1,
        "millisecond": 1e-3, "milliseconds": 1e-3,
    ]
}

/// A metric of body sizes, and the direction of the bytes: a client sends its request, a server receives it.
struct SizeMetric {
    var kind: RequestKind
    var measure: (UInt64) -> PointMeasure

    init?(name: String) {
        switch name {
        case MetricName.clientRequestSize: (kind, measure) = (.client, PointMeasure.bytesSent)
        case MetricName.clientResponseSize: (kind, measure) = (.client, PointMeasure.bytesReceived)
        case MetricName.serverRequestSize: (kind, measure) = (.server, PointMeasure.bytesReceived)
        case MetricName.serverResponseSize: (kind, measure) = (.server, PointMeasure.bytesSent)
        default: return nil
        }
    }
}

/// The measurement of requests in one point.
enum PointMeasure {
    case duration(ExponentialHistogram)
    case bytesSent(UInt64)
    case bytesReceived(UInt64)
}

extension RequestStatistics {
    /// The statistics of a cumulative point.
    init(_ measure: PointMeasure) {
        self.init()
        switch measure {
        case .duration(let duration): self.duration = duration
        case .bytesSent(let bytes): bytesSent = bytes
        case .bytesReceived(let bytes): bytesReceived = bytes
        }
    }

    /// The statistics of a delta point.
    init(delta measure: PointMeasure) {
        self.init()
        add(measure)
    }

    /// Adds the measurement of a delta point of the same requests.
    mutating func add(_ measure: PointMeasure) {
        switch measure {
        case .duration(let duration): self.duration.merge(duration.distributed)
        case .bytesSent(let bytes): bytesSent &+= bytes
        case .bytesReceived(let bytes): bytesReceived &+= bytes
        }
    }
}

/// The series and the interval that the duration and the sizes of the same requests share.
struct PointKey: Hashable {
    var series: SharedDimensions
    var start: UnixNanoseconds
    var end: UnixNanoseconds

    init(_ point: HistogramPoint, _ limits: IntakeLimits) throws(PointRefusal) {
        guard point.count > 0 else { throw .countMismatch }
        (start, end) = (point.intervalStart, point.end)
        // The store keeps times as 63 bits, which last until 2262.
        guard end > 0, start <= end, end <= UInt64(Int64.max) else {
            throw PointRefusal(reason: "the interval ends before it starts, or has no valid end")
        }
        try limits.times.check(start, end)
        series = point.attributes.series
        guard point.attributes.longestText <= limits.maxAttributeBytes else {
            throw PointRefusal(reason: "an attribute of the point is too long")
        }
    }
}

extension OTLPMetric {
    /// The number of values in the metric's delta histograms; 0 for any other metric.
    var valueCount: UInt64 {
        switch data {
        case .histogram(let histogram) where histogram.aggregationTemporality == .delta:
            histogram.dataPoints.reduce(0) { $0 &+ $1.count }
        case .exponentialHistogram(let histogram) where histogram.aggregationTemporality == .delta:
            histogram.dataPoints.reduce(0) { $0 &+ $1.count }
        default: 0
        }
    }
}
