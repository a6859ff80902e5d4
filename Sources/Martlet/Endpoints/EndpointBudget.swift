/// Holds the number of distinct endpoints to a limit, so that nothing a URL says can make the agent or the collector
/// grow without bound. First come, first named; what comes later counts to `{other}`.
struct EndpointBudget: Sendable {
    static let overflow = "{other}"

    private struct Key: Hashable {
        let host: String
        let port: Int
        let endpoint: String
    }

    private let limit: Int
    private var named: Set<Key> = []
    private var overflowHosts: Set<Key> = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Host and endpoint to count a request to: its own within the limit, then `{other}` of its host; hosts are held to
    /// the same limit, and past it the host is `{other}` as well.
    mutating func admit(host: String, port: Int, endpoint: String) -> (host: String, port: Int, endpoint: String) {
        if Self.admit(Key(host: host, port: port, endpoint: endpoint), to: &named, limit: limit) {
            return (host, port, endpoint)
        }
        if Self.admit(Key(host: host, port: port, endpoint: Self.overflow), to: &overflowHosts, limit: limit) {
            return (host, port, Self.overflow)
        }
        return (Self.overflow, 0, Self.overflow)
    }

    private static func admit(_ key: Key, to keys: inout Set<Key>, limit: Int) -> Bool {
        if keys.contains(key) { return true }
        guard keys.count < limit else { return false }
        keys.insert(key)
        return true
    }
}
