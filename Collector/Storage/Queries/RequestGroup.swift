import MartletTelemetry

/// The requests that have the values of a query's dimensions in common. Failed requests are kept apart, because their
/// durations do not tell how satisfied the callers are. A plain value.
package struct RequestGroup: Sendable, Equatable {
    /// A value for each dimension of the query, in its order.
    package var values: [String?]
    package private(set) var unfailed = RequestStatistics()
    package private(set) var failed = RequestStatistics()
    package private(set) var outcomes = OutcomeCounts()
    /// Requests that are known from spans alone.
    package private(set) var fromSpans: UInt64 = 0

    /// The latest end of an interval with requests of the group, as fine as the store has it; 0 if it is empty.
    package var latestEnd: UnixNanoseconds = 0

    /// Creates a group without requests.
    package init(values: [String?]) {
        self.values = values
    }

    // Reading `requests` of another module would copy the statistics, buckets and all, for each entry of a chunk.
    package var count: UInt64 { unfailed.duration.count &+ failed.duration.count }

    /// The statistics of all requests, failed or not.
    package var statistics: RequestStatistics {
        var all = unfailed
        all.merge(failed)
        return all
    }

    package var isEmpty: Bool { unfailed.isEmpty && failed.isEmpty }

    /// Adds requests of one class. `body` adds them to the statistics that it is given: those of failed or of unfailed
    /// requests.
    package mutating func add<Result>(
        _ requests: RequestClass, _ body: (inout RequestStatistics) throws -> Result
    ) rethrows -> Result {
        let before = count
        defer {
            let added = count &- before
            outcomes[requests.outcome] &+= added
            if requests.isOfSpans { fromSpans &+= added }
        }
        return try requests.isFailure ? body(&failed) : body(&unfailed)
    }

    /// The memory of the sketches, in bytes.
    package var sketchBytes: Int {
        (unfailed.duration.buckets.capacity + failed.duration.buckets.capacity) * MemoryLayout<UInt64>.stride
    }

    /// Makes the sketches coarser, those of requests to come as well.
    package mutating func lowerScale(to scale: Int32) {
        unfailed.duration.lowerScale(to: scale)
        failed.duration.lowerScale(to: scale)
    }

    /// Adds the requests of another group.
    package mutating func merge(_ other: RequestGroup) {
        unfailed.merge(other.unfailed)
        failed.merge(other.failed)
        outcomes.merge(other.outcomes)
        fromSpans &+= other.fromSpans
        latestEnd = max(latestEnd, other.latestEnd)
    }
}
