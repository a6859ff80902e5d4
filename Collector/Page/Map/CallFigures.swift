import MartletReports
import MartletStorage
import MartletTelemetry

/// The requests of one service to one host, or those that it served as one host, by its own count.
struct CallFigures: Sendable {
    /// The errors of requests that no server ever got, because no connection to one was made.
    static let unreached: Set = ["dns", "connection_refused", "connection_failed", "invalid_request"]

    private(set) var group = RequestGroup(values: [])
    /// Requests that reached no server, whatever else is known.
    private(set) var lost: UInt64 = 0
    /// The errors of the lost requests.
    private(set) var errors: Set<String> = []

    mutating func add(_ group: RequestGroup, error: String?) {
        self.group.merge(group)
        guard let error, Self.unreached.contains(error) else { return }
        // A request with a status was answered, whatever its error is called.
        lost &+= min(group.count, group.outcomes[.transportFailure])
        errors.insert(error)
    }

    var count: UInt64 { group.count }

    /// Requests without an answer that may have reached a server: they were reset, timed out, hung or cancelled.
    var unanswered: UInt64 {
        let all = group.outcomes[.transportFailure] &+ group.outcomes[.hung] &+ group.outcomes[.cancelled]
        return all > lost ? all - lost : 0
    }

    var failureRate: Double { count > 0 ? Double(group.failed.duration.count) / Double(count) : 0 }

    /// Milliseconds.
    var p95: Double? { group.milliseconds(0.95) }
}
