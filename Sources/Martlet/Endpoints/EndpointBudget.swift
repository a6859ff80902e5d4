import MartletTelemetry

/// Holds the number of distinct endpoints to a limit, so that nothing a URL says can make the agent or the collector
/// grow without bound. First come, first named; what comes later counts to `{other}`, until names that were not seen for a
/// day give up their room.
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
    /// When each was last asked for.
    private var named: [Key: UnixNanoseconds] = [:]
    private var overflowHosts: [Key: UnixNanoseconds] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// What to count a request to: its own endpoint within the limit, then `{other}` of its host; hosts are held to the
    /// same limit, and past it the host is `{other}` as well.
    ///
    /// - Parameter now: The time of the request, roughly.
    mutating func admit(_ wanted: RequestDimensions, at now: UnixNanoseconds) -> RequestDimensions {
        var dimensions = wanted
        if Self.admit(Key(dimensions), to: &named, limit: limit, at: now) { return dimensions }
        dimensions.endpoint = Self.overflow
        if Self.admit(Key(dimensions), to: &overflowHosts, limit: limit, at: now) { return dimensions }
        dimensions.host = Self.overflow
        dimensions.port = 0
        return dimensions
    }

    /// Makes room where there is none. To be called now and then.
    mutating func forgetUnused(at now: UnixNanoseconds) {
        for keys in [\EndpointBudget.named, \.overflowHosts] where self[keyPath: keys].count >= limit {
            self[keyPath: keys] = self[keyPath: keys].filter { _, seen in
                seen > now || now - seen < MartletLimits.unusedEndpoint.nanoseconds
            }
        }
    }

    private static func admit(
        _ key: Key, to keys: inout [Key: UnixNanoseconds], limit: Int, at now: UnixNanoseconds
    ) -> Bool {
        guard keys[key] != nil || keys.count < limit else { return false }
        keys[key] = now
        return true
    }
}
