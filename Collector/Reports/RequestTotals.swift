import MartletTelemetry

/// What was stored of every series since the collector started. It only grows, as Prometheus wants it of counters; a
/// restart begins anew, which Prometheus notices. A plain value.
package struct RequestTotals: Sendable {
    /// Series at most, each 16 lines of a scrape; the requests of more go to ``otherEndpoint`` of their service.
    package static let maxSeries = 5_000
    /// Series of other endpoints at most; the requests of more go to ``otherService``.
    package static let maxOtherSeries = 500
    package static let otherEndpoint = "{other}"
    package static let otherService = "{other}"

    package struct Series: Sendable, Hashable {
        package var service: String
        fileprivate var shared: SharedDimensions

        package var dimensions: RequestDimensions { shared.value }
    }

    package struct Total: Sendable, Equatable {
        package var duration = ExplicitHistogram(bounds: ExplicitHistogram.requestBounds)
        package var bytesSent: UInt64 = 0
        package var bytesReceived: UInt64 = 0

        package mutating func add(_ other: Total) {
            duration.add(other.duration)
            bytesSent &+= other.bytesSent
            bytesReceived &+= other.bytesReceived
        }

        fileprivate mutating func add(_ statistics: RequestStatistics) {
            duration.add(statistics.duration)
            bytesSent &+= statistics.bytesSent
            bytesReceived &+= statistics.bytesReceived
        }
    }

    package private(set) var totals: [Series: Total] = [:]
    private let maxSeries: Int
    private let maxOtherSeries: Int
    private var otherSeries = 0

    package init(maxSeries: Int = Self.maxSeries, maxOtherSeries: Int = Self.maxOtherSeries) {
        self.maxSeries = maxSeries
        self.maxOtherSeries = maxOtherSeries
    }

    /// Adds what was stored, once.
    package mutating func add(_ metrics: InstanceMetrics) {
        // By their places: a copy of a point costs more than what is done with it.
        for index in metrics.points.indices {
            let series = Series(service: metrics.resource.service, shared: metrics.points[index].series)
            if let known = totals.index(forKey: series) {
                totals.values[known].add(metrics.points[index].statistics)
            } else {
                totals[room(for: series), default: Total()].add(metrics.points[index].statistics)
            }
        }
    }

    /// A new series, or the one that it is counted in where there is no room for it.
    private mutating func room(for series: Series) -> Series {
        if totals.count - otherSeries < maxSeries { return series }
        let other = series.other
        if totals[other] != nil { return other }
        guard otherSeries < maxOtherSeries else { return series.last }
        otherSeries += 1
        return other
    }
}

extension RequestTotals.Series {
    /// Keeps what failure rates are made of.
    fileprivate var other: Self {
        var other = dimensions
        other.method = "_OTHER"
        (other.host, other.port) = ("", 0)
        other.endpoint = RequestTotals.otherEndpoint
        other.error = nil
        return Self(service: service, shared: SharedDimensions(other))
    }

    /// There are as many of these as kinds and sources.
    fileprivate var last: Self {
        var last = other.dimensions
        last.status = nil
        return Self(service: RequestTotals.otherService, shared: SharedDimensions(last))
    }
}
