import MartletStorage
import MartletTelemetry

/// The sum of one service's requests to one host, or of those that it served as one host.
struct CallSum {
    /// The errors of requests that no server ever got, because no connection to one was made.
    private static let unreached: Set = ["dns", "connection_refused", "connection_failed", "invalid_request"]

    private(set) var group = RequestGroup(values: [])
    /// Requests that reached no server, whatever else is known.
    private(set) var lost: UInt64 = 0
    /// The errors of the lost requests.
    private(set) var errors: Set<String> = []

    mutating func add(_ group: RequestGroup, error: String?) {
        self.group.merge(group)
        guard let error, Self.unreached.contains(error) else { return }
        // A request with a status of failure was answered, whatever its error is called.
        lost &+= min(group.count, group.outcomes[.transportFailure])
        errors.insert(error)
    }

    /// Requests without an answer that may have reached a server: they were reset, timed out, hung or cancelled.
    var unanswered: UInt64 {
        let all = group.outcomes[.transportFailure] &+ group.outcomes[.hung] &+ group.outcomes[.cancelled]
        return all > lost ? all - lost : 0
    }
}
