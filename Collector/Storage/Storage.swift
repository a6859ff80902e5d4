import MartletPoints
import MartletTelemetry

/// The collector's store. Implementations are safe to call from any task.
package protocol Storage: Sendable {
    /// The store's identity, a random text that never changes: two collectors with the same one store into the same place, and
    /// a batch that was sent to both counts once. Letters and digits, 64 bytes at most.
    var id: String { get }

    /// Stores all of the batch, its id included, or nothing. A stored batch survives a kill of the process, and a power cut
    /// if the disk obeys a sync. Throws ``StorageBusy`` if too much waits to be stored.
    ///
    /// If a sender other than Martlet names no batch, points that were stored already, with the same end and the same
    /// figures, are not stored a second time.
    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome

    /// Stores the details of requests in the same way. The oldest of the service with the most details make room for them. If
    /// a sender reports its requests in details alone, they are counted too (``DetailsBatch/points``).
    func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome

    /// Returns figures that are all of one moment, for each query in order; or the reason why the answer to it would be too large.
    /// Asking together costs less than one after the other, and a query may be about the groups of an earlier answer
    /// (``WantedGroups``).
    func statistics(_ queries: [StatisticsQuery]) async throws -> [Result<StatisticsAnswer, TooManyGroups>]

    /// Returns the account of the senders that a filter selects.
    func account(in window: TimeWindow, _ filter: RequestFilter) async throws -> WindowAccount

    /// Returns the figures of the senders' processes over time. Throws ``TooManyGroups`` if the answer would be too large.
    func processes(_ query: ProcessQuery) async throws -> ProcessAnswer

    /// Returns the values of a dimension.
    func values(_ query: ValuesQuery) async throws -> ValuesAnswer

    /// Returns a page of kept requests. Throws ``UnknownRequest`` if the query continues after a request that is not kept.
    func requests(_ query: RequestsQuery) async throws -> RequestsAnswer

    /// Returns the number of kept requests for each of the query's times, and in it for each of its ranges of durations: one more
    /// than it has bounds.
    func cells(_ query: RequestCellsQuery) async throws -> [[Int]]

    /// Returns the kept request or span with this id; `nil` if there is none.
    func request(_ id: String) async throws -> StoredSpan?

    /// Returns the kept spans of a trace, at most `limit`; none for an unknown trace. If there are more, those that failed are
    /// taken first, and then those that began first.
    func spans(ofTrace trace: TraceID, limit: Int) async throws -> TraceAnswer

    /// Returns the calls between services that kept spans show at both ends, among the latest `limit` of the window's server
    /// spans whose senders a filter selects; and as many that are remembered of spans that have gone (``maintain()``), by the
    /// callee's service and environment. A filter that selects a version or an instance selects none of these.
    func calls(in window: TimeWindow, _ filter: RequestFilter, limit: Int) async throws -> Set<ObservedCall>

    /// Deletes all spans that are kept at the moment of the call, and returns their number. The counted requests stay, and so do the
    /// calls that the spans showed.
    func removeDetails() async throws -> Int

    /// Returns the senders that were seen at `time` or later, by the collector's clock, and that a filter selects: the most
    /// recently seen first, and at most `limit`.
    func agents(seenSince time: UnixNanoseconds, _ filter: RequestFilter, limit: Int) async throws -> AgentsAnswer

    /// The reason why nothing can be stored at the moment, in a sentence; `nil` if batches are taken. It is known from the
    /// latest work of the store, so it costs nothing and waits for nothing.
    var fault: String? { get }

    /// Returns the bytes that the store takes on the disk.
    func size() async throws -> UInt64

    /// Returns the facts that an operator watches.
    func state() async throws -> StorageState

    /// Remembers the calls that new spans show, for as long as points of hours are kept; makes older points coarser, and deletes what
    /// is past its retention. One task at a time calls it, every few seconds. It
    /// works in short steps, so that no caller waits long to store or to read. The figures of a window whose fine points are
    /// still kept stay the same.
    func maintain() async throws

    /// Returns the free bytes of the disk that the store lies on; `nil` if the system does not tell them.
    func freeBytes() async -> UInt64?
}

extension Storage {
    /// Returns figures that are all of one moment. Throws ``TooManyGroups`` if the answer would be too large.
    package func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        guard let answer = try await statistics([query]).first else { throw StorageFailure("the store gave no answer") }
        return try answer.get()
    }

    /// Returns the senders that were seen at `time` or later, whatever they are.
    package func agents(seenSince time: UnixNanoseconds, limit: Int) async throws -> AgentsAnswer {
        try await agents(seenSince: time, RequestFilter(), limit: limit)
    }

    /// Does nothing, for a store that maintains itself.
    package func maintain() async throws {}
}
