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

/// The dimensions of a series, which are looked up with each of its points. So the hash is computed only once, and copies are
/// compared by identity.
package struct SharedDimensions: Sendable, Hashable {
    private final class Hashed: Sendable {
        let dimensions: RequestDimensions
        let hash: Int

        init(_ dimensions: RequestDimensions) {
            self.dimensions = dimensions
            hash = dimensions.hashValue
        }
    }

    private let storage: Hashed

    package init(_ dimensions: RequestDimensions) {
        storage = Hashed(dimensions)
    }

    package var value: RequestDimensions { storage.dimensions }
    package var source: StatisticsSource { storage.dimensions.source }

    package static func == (one: SharedDimensions, other: SharedDimensions) -> Bool {
        one.storage === other.storage
            || (one.storage.hash == other.storage.hash && one.storage.dimensions == other.storage.dimensions)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(storage.hash)
    }
}

extension RequestDimensions {
    /// Returns a host in its stored form: in lower case, because a host's case has no meaning (RFC 3986, section 3.2.2), and an
    /// IPv6 address without brackets. So each server has one name.
    ///
    /// - Parameter text: a host without a port. A host with a port keeps its brackets.
    package static func storedHost(_ text: some StringProtocol) -> String {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]") && text.utf8.count > 2
        return isBracketed ? text.dropFirst().dropLast().lowercased() : text.lowercased()
    }
}
