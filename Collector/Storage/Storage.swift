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
}

package enum StoreOutcome: Sendable, Equatable {
    case stored
    /// Nothing was stored: the batch's id is known, or all its intervals are, or it has no id and its points are known.
    case duplicate
    /// The batch was stored, although some of its intervals had arrived: their requests may count twice. An agent never
    /// merges intervals that it has sent, but after a power cut its disk may have forgotten that they were sent.
    case overlapping
}

/// Takes the points that a commit of a store added, and the number of spans. Neither includes data stored before.
package typealias OnStored = @Sendable (_ points: [InstanceMetrics], _ spans: Int) -> Void

/// The facts about a store that its operator watches. A plain value.
package struct StorageState: Sendable, Equatable {
    /// Bytes of the pages in use, which the store's limit is about.
    package var bytesInUse: UInt64 = 0
    /// The limit of these bytes.
    package var maxBytes: UInt64 = .max
    /// Whether all that may still be deleted before its age, some of it once it is rolled up, makes up the bytes past the limit.
    package var mayShrink = true
    /// Bytes of the log.
    package var logBytes: UInt64 = 0
    /// The seconds by which the collector's clock jumped and is not believed yet, so that nothing expires; negative if it
    /// jumped back, and 0 if it is believed.
    package var clockJump: Double = 0
    /// Details that made room for others since the start, because of their number or bytes.
    package var crowdedDetails: UInt64 = 0
    /// Details that were deleted since the start because the store was full.
    package var shedDetails: UInt64 = 0
    /// Rows of finer points that were deleted since the start because the store was full.
    package var shedChunks: UInt64 = 0
    /// Points of cumulative streams that were not counted since the start, because there was no room to remember their streams.
    package var uncountedPoints: UInt64 = 0

    package init() {}
}

/// The error of a store with as much waiting to be written as its limits allow. Nothing was stored; a later attempt may
/// succeed.
package struct StorageBusy: Error {
    package init() {}
}

/// The reason that a store cannot be used, in a sentence for the person who named it.
package struct StorageFailure: Error, Equatable, CustomStringConvertible {
    package var description: String
    /// Whether it would not have happened with more room on the disk.
    package var isOfFullDisk: Bool

    package init(_ description: String, isOfFullDisk: Bool = false) {
        self.description = description
        self.isOfFullDisk = isOfFullDisk
    }
}

/// A store that passes every call on to another. A type that conforms implements the calls that it changes.
package protocol StorageWrapper: Storage {
    var storage: any Storage { get }
}

extension StorageWrapper {
    package var id: String { storage.id }

    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        try await storage.store(metrics, of: batch)
    }

    package func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        try await storage.store(details, of: batch)
    }

    package func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        try await storage.statistics(queries)
    }

    package func account(in window: TimeWindow, _ filter: RequestFilter) async throws -> WindowAccount {
        try await storage.account(in: window, filter)
    }

    package func processes(_ query: ProcessQuery) async throws -> ProcessAnswer { try await storage.processes(query) }

    package func values(_ query: ValuesQuery) async throws -> ValuesAnswer { try await storage.values(query) }

    package func requests(_ query: RequestsQuery) async throws -> RequestsAnswer { try await storage.requests(query) }

    package func request(_ id: String) async throws -> StoredSpan? { try await storage.request(id) }

    package func spans(ofTrace trace: TraceID, limit: Int) async throws -> TraceAnswer {
        try await storage.spans(ofTrace: trace, limit: limit)
    }

    package func calls(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> Set<ObservedCall> {
        try await storage.calls(in: window, filter, limit: limit)
    }

    package func removeDetails() async throws -> Int { try await storage.removeDetails() }

    package func agents(
        seenSince time: UnixNanoseconds, _ filter: RequestFilter, limit: Int
    ) async throws -> AgentsAnswer {
        try await storage.agents(seenSince: time, filter, limit: limit)
    }

    package var fault: String? { storage.fault }

    package func size() async throws -> UInt64 { try await storage.size() }

    package func state() async throws -> StorageState { try await storage.state() }

    package func maintain() async throws { try await storage.maintain() }

    package func freeBytes() async -> UInt64? { await storage.freeBytes() }
}
