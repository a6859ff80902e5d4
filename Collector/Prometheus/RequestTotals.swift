import MartletStorage
import MartletTelemetry

/// The sums of every series since the collector started. They only grow, as Prometheus expects of counters. A plain value.
///
/// Prometheus computes differences between samples, so it would miss what the first sample of a series has counted. Therefore a
/// series shows 0 at first, for so long that each Prometheus sees it, whoever else reads the page.
package struct RequestTotals: Sendable {
    /// The most series, with 16 lines of a scrape each. Beyond it, requests of new series are counted under the endpoint
    /// `{other}` of their service.
    package static let maxSeries = 5_000
    /// The most series of `{other}` endpoints. Beyond it, requests are counted under the service `{other}`.
    package static let maxOverflowSeries = 500

    /// A service in one environment. Its instances and versions share their series, so that a deployment adds no new ones.
    package struct Service: Sendable, Hashable {
        package var name: String
        package var environment: String?

        static let other = Service(name: RequestDimensions.other)
    }

    package struct Series: Sendable, Hashable {
        package var service: Service
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

    private struct Entry {
        var total = Total()
        let since: ContinuousClock.Instant
    }

    /// The entries of each service, so that looking up a point takes only its dimensions.
    private var entries: [[SharedDimensions: Entry]] = []
    /// The index of each service in ``entries``.
    private var serviceIndexes: [Service: Int] = [:]
    /// The results of ``overflow(of:)``, by their dimensions: a few for each status.
    private var overflows: [RequestDimensions: SharedDimensions] = [:]
    private let maxSeries: Int
    private let maxOverflowSeries: Int
    private var overflowSeries = 0
    /// How long a new series shows 0.
    private let zeroTime: Duration
    /// The number of series.
    package private(set) var count = 0

    /// - Parameter scrapeInterval: the longest interval of a Prometheus. A new series shows 0 for one and a half of it.
    package init(
        scrapeInterval: Duration = .zero, maxSeries: Int = Self.maxSeries,
        maxOverflowSeries: Int = Self.maxOverflowSeries
    ) {
        zeroTime = scrapeInterval * 3 / 2
        self.maxSeries = maxSeries
        self.maxOverflowSeries = maxOverflowSeries
    }

    /// Returns the totals as a page shows them at a time.
    package func samples(at now: ContinuousClock.Instant) -> [Series: Total] {
        serviceIndexes.reduce(into: [:]) { totals, service in
            for (shared, entry) in entries[service.value] {
                totals[Series(service: service.key, shared: shared)] =
                    now - entry.since >= zeroTime ? entry.total : Total()
            }
        }
    }

    /// Adds stored points. Each point must be added only once.
    package mutating func add(_ metrics: InstanceMetrics, at now: ContinuousClock.Instant) {
        let service = Service(name: metrics.resource.service, environment: metrics.resource.environment)
        var serviceIndex = serviceIndexes[service]
        // The loop uses indexes, because copying a point costs more than adding it.
        for index in metrics.points.indices {
            let series = metrics.points[index].series
            if let serviceIndex, let known = find(series, ofService: serviceIndex) {
                entries[serviceIndex].values[known].total.add(metrics.points[index].statistics)
            } else {
                add(metrics.points[index].statistics, to: newSeries(for: series, of: service), at: now)
                serviceIndex = serviceIndexes[service]
            }
        }
    }

    private mutating func add(
        _ statistics: RequestStatistics, to series: Series, at now: ContinuousClock.Instant
    ) {
        let serviceIndex = serviceIndexes[series.service] ?? entries.count
        if serviceIndex == entries.count {
            entries.append([:])
            serviceIndexes[series.service] = serviceIndex
        }
        count -= entries[serviceIndex].count
        entries[serviceIndex][series.shared, default: Entry(since: now)].total.add(statistics)
        count += entries[serviceIndex].count
    }

    private var isFull: Bool { count - overflowSeries >= maxSeries }

    /// Returns the entry in which a service's series is already counted: its own entry, or that of `{other}` if the totals are
    /// full. `nil` if there is none yet.
    private mutating func find(
        _ series: SharedDimensions, ofService serviceIndex: Int
    ) -> Dictionary<SharedDimensions, Entry>.Index? {
        if let known = entries[serviceIndex].index(forKey: series) { return known }
        return isFull ? entries[serviceIndex].index(forKey: overflow(of: series)) : nil
    }

    /// Returns the series to create: the series itself, or `{other}` if the totals are full.
    private mutating func newSeries(for series: SharedDimensions, of service: Service) -> Series {
        guard isFull else { return Series(service: service, shared: series) }
        guard overflowSeries < maxOverflowSeries else { return Series.last(series.value) }
        overflowSeries += 1
        return Series(service: service, shared: overflow(of: series))
    }

    /// Returns the dimensions of the `{other}` endpoint for a series. They are the same in every service.
    private mutating func overflow(of series: SharedDimensions) -> SharedDimensions {
        let dimensions = series.value.catchAll
        if let known = overflows[dimensions] { return known }
        let overflow = SharedDimensions(dimensions)
        overflows[dimensions] = overflow
        return overflow
    }
}

extension RequestTotals.Series {
    /// Returns the series of the service `{other}` in which the request is counted. There is one for each kind, source and
    /// outcome.
    fileprivate static func last(_ dimensions: RequestDimensions) -> Self {
        var last = dimensions.catchAll
        last.status = nil
        last.error = dimensions.outcome.error(of: dimensions.kind)
        return Self(service: .other, shared: SharedDimensions(last))
    }
}

extension RequestOutcome {
    /// The error that represents the outcome in a series without a status; `nil` if nothing failed.
    fileprivate func error(of kind: RequestKind) -> String? {
        switch self {
        case .hung: Self.hungError
        case .cancelled: Self.cancelledError
        default: isFailure(for: kind) ? RequestDimensions.otherMethodOrError : nil
        }
    }
}
