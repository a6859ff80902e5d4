import MartletTelemetry

/// The statistics and details between two drains.
struct RecordedInterval: Sendable {
    var start: UnixNanoseconds
    var end: UnixNanoseconds = 0
    var series: [RequestDimensions: RequestStatistics] = [:]
    var sizes: [RequestDimensions: BodySizes] = [:]
    var details: [SpanRecord] = []
    /// The nanoseconds without capture, from the recorder's start to the end of the interval.
    var unwatched: UInt64 = 0
}
