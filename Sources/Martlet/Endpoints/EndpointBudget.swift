import MartletTelemetry

/// Holds the number of distinct endpoints to a limit, so that nothing a URL says can make the agent or the collector
/// grow without bound. First come, first named; what comes later counts to `{other}`.
struct EndpointBudget: Sendable {
    static let overflow = "{other}"

    private struct Key: Hashable {
        let host: String
        let port: Int
        let endpoint: String

        init(_ dimensions: RequestDimensions) {
            host = dimensions.host
            port = dimensions.port
            endpoint = dimensions.endpoint
        }
    }

    private let limit: Int
    private var named: Set<Key> = []
    private var overflowHosts: Set<Key> = []

    init(limit: Int) {
        self.limit = limit
    }

    /// What to count a request to: its own endpoint within the limit, then `{other}` of its host; hosts are held to the
    /// same limit, and past it the host is `{other}` as well.
    mutating func admit(_ wanted: RequestDimensions) -> RequestDimensions {
        var dimensions = wanted
        if Self.admit(Key(dimensions), to: &named, limit: limit) { return dimensions }
        dimensions.endpoint = Self.overflow
        if Self.admit(Key(dimensions), to: &overflowHosts, limit: limit) { return dimensions }
        dimensions.host = Self.overflow
        dimensions.port = 0
        return dimensions
    }

    private static func admit(_ key: Key, to keys: inout Set<Key>, limit: Int) -> Bool {
        if keys.contains(key) { return true }
        guard keys.count < limit else { return false }
        keys.insert(key)
        return true
    }
}
