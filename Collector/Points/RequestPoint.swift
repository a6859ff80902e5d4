import MartletTelemetry

/// The requests of one series in one interval, `(start, end]`.
package struct RequestPoint: Sendable, Equatable {
    package var series: SharedDimensions
    package var start: UnixNanoseconds
    package var end: UnixNanoseconds
    package var statistics: RequestStatistics

    package var dimensions: RequestDimensions { series.value }

    package init(
        dimensions: RequestDimensions, start: UnixNanoseconds, end: UnixNanoseconds, statistics: RequestStatistics
    ) {
        self.init(series: SharedDimensions(dimensions), start: start, end: end, statistics: statistics)
    }

    package init(
        series: SharedDimensions, start: UnixNanoseconds, end: UnixNanoseconds, statistics: RequestStatistics
    ) {
        self.series = series
        self.start = start
        self.end = end
        self.statistics = statistics
    }
}
