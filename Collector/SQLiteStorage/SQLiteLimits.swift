import MartletTelemetry

/// What the embedded store keeps at most.
package struct SQLiteLimits: Sendable, Equatable {
    /// Details of requests; past it the oldest go.
    package var maxDetails = 100_000
    /// How long details are kept, by the time of their arrival.
    package var detailAge: UnixNanoseconds = 24 * 3600 * 1_000_000_000
    /// How long the id of a batch is remembered. Longer than an agent's outbox holds a batch while it sends it again.
    package var batchAge: UnixNanoseconds = 30 * 24 * 3600 * 1_000_000_000

    package init() {}
}
