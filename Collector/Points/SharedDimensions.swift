import MartletTelemetry

/// The dimensions of a series, for a look-up with each of its points. They are hashed once, and copies are compared by
/// identity.
package struct SharedDimensions: Sendable, Hashable {
    private final class Storage: Sendable {
        let dimensions: RequestDimensions
        let hash: Int

        init(_ dimensions: RequestDimensions) {
            self.dimensions = dimensions
            hash = dimensions.hashValue
        }
    }

    private let storage: Storage

    package init(_ dimensions: RequestDimensions) {
        storage = Storage(dimensions)
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
