import MartletTelemetry

/// A limit on the number of distinct endpoints, so that no URL can make the agent or the collector grow without bound. The
/// first endpoints keep their names, and later ones count to `{other}`, until endpoints that were not seen for a day are
/// forgotten.
struct EndpointBudget: Sendable {
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
    /// The time of the last request to each named endpoint.
    private var named: [Key: UnixNanoseconds] = [:]
    private var overflowHosts: [Key: UnixNanoseconds] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the dimensions that a request counts to: its own endpoint within the limit, then `{other}` of its host. The
    /// same limit holds for hosts, and past it the host is `{other}` as well.
    ///
    /// - Parameter now: the approximate time of the request.
    mutating func admit(_ wanted: RequestDimensions, at now: UnixNanoseconds) -> RequestDimensions {
        var dimensions = wanted
        if Self.admit(Key(dimensions), to: &named, limit: limit, at: now) { return dimensions }
        dimensions.endpoint = RequestDimensions.other
        if Self.admit(Key(dimensions), to: &overflowHosts, limit: limit, at: now) { return dimensions }
        dimensions.host = RequestDimensions.other
        dimensions.port = 0
        return dimensions
    }

    /// Forgets endpoints and hosts not seen for ``MartletLimits/unusedEndpoint``, once their limit is reached. To be called
    /// now and then.
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
