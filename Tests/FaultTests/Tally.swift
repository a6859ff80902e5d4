/// Three counts of the same requests, by endpoint: the requests that the program saw end, the requests in the report, and
/// the requests that reached the server.
struct Tally {
    var ended: [String: Int]
    var reported: [String: Int]
    var served: [String: Int]

    /// The endpoints with a request that was lost or counted twice; empty if every count is right.
    ///
    /// A worker makes one request after the other, so at most the last request of each endpoint was in flight when the
    /// process was killed: the server received it, the program did not see its end, and the agent may or may not have.
    /// Every other request must be in the report, once.
    var complaints: [String] {
        Set(served.keys).union(reported.keys).union(ended.keys).sorted().compactMap { endpoint in
            let (ended, reported, served) = (ended[endpoint] ?? 0, reported[endpoint] ?? 0, served[endpoint] ?? 0)
            guard ended <= reported, reported <= served, served <= ended + 1 else {
                return "\(endpoint): \(ended) ended, \(reported) reported, \(served) served"
            }
            return nil
        }
    }

    var totals: (ended: Int, reported: Int, served: Int) {
        (Self.sum(ended), Self.sum(reported), Self.sum(served))
    }

    private static func sum(_ counts: [String: Int]) -> Int { counts.values.reduce(0, +) }
}
