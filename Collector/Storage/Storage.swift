import MartletTelemetry

/// Where the collector keeps what it took in. Implementations are safe to call from any task.
package protocol Storage: Sendable {
    /// Stores all of it or nothing, the batch's id included. What it returned for is there after the process was killed,
    /// and after the machine lost its power, as far as the disk does what it is told to. Throws ``StorageBusy`` when too much
    /// waits to be stored.
    ///
    /// Of a sender other than Martlet that names no batch, points that were stored already, with the same end and the same
    /// figures, are not stored again.
    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome

    /// The same for the details of requests; the oldest make room for them. Where they are all that a sender tells of its
    /// requests, these are counted too (``DetailsBatch/points``).
    func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome

    /// Everything in the answer is of one moment. Throws ``TooManyGroups`` where it would be too large.
    func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer

    /// What was kept of a trace, in the order of the starts; empty for a trace that is not known.
    func spans(ofTrace trace: TraceID) async throws -> [StoredSpan]

    /// The senders that were seen at that time or later, by the collector's clock: the most recently seen first, and no more
    /// than `limit` of them.
    func agents(seenSince time: UnixNanoseconds, limit: Int) async throws -> AgentsAnswer

    /// Throws when the store cannot answer.
    func check() async throws

    /// Bytes that it takes on the disk.
    func size() async throws -> UInt64

    /// Makes older points coarser and deletes what is past its retention. To be called every few seconds, by one task at a
    /// time. In short steps, so that nobody who stores or asks waits for long; what a window has whose fine points are still
    /// kept is the same before and after.
    func maintain() async throws
}

extension Storage {
    /// Nothing, for a store that keeps itself.
    package func maintain() async throws {}
}

package enum StoreOutcome: Sendable, Equatable {
    case stored
    /// The batch's id is known, or all intervals that it stands for are, or it names none and its points are: nothing was
    /// stored.
    case duplicate
    /// Stored, although some of the intervals that it stands for had arrived: their requests may count twice. An agent
    /// never merges what it sent, but a disk that lost its power may have forgotten that it did.
    case overlapping
}
