import MartletTelemetry

/// The collector's store. Implementations are safe to call from any task.
package protocol Storage: Sendable {
    /// The store's identity: a random string of letters and digits that never changes, at most 64 bytes. Two collectors with
    /// the same identity share one store, so a batch sent to both is counted once.
    var id: String { get }

    /// Stores the whole batch with its id, or nothing. A stored batch survives a kill of the process. It also survives a power cut
    /// if the disk obeys a sync. Throws ``StorageBusy`` if too much is waiting to be stored.
    ///
    /// If a sender other than a Martlet agent gives no batch id, points that are already stored with the same end and the same
    /// figures are not stored again.
    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome

    /// Stores the details of requests in the same way. If there are too many, the oldest details of the service with the most
    /// are deleted. If a sender reports its requests only in details, the requests are also counted (``DetailsBatch/points``).
    func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome

    /// Returns an answer to each query, in order, all from the same moment. A query whose answer would be too large gets the
    /// error instead. One call for several queries costs less than several calls. A query may be about the groups of an earlier
    /// answer (``WantedGroups``).
    func statistics(_ queries: [StatisticsQuery]) async throws -> [Result<StatisticsAnswer, TooManyGroups>]

    /// Returns the account of the senders that the filter selects.
    func account(in window: TimeWindow, _ filter: RequestFilter) async throws -> WindowAccount

    /// Returns the figures of processes over time. Throws ``TooManyGroups`` if the answer would be too large.
    func processes(_ query: ProcessQuery) async throws -> ProcessAnswer

    /// Returns what each sender reported in each minute of a window. Only dimensions that the sender decides have an effect in the
    /// filter. Resolutions coarser than a minute are left out. Throws ``TooManyGroups`` if the answer would be too large.
    func histories(in window: TimeWindow, _ filter: RequestFilter) async throws -> [SenderHistory]

    /// Returns the ends of processes in a window, the latest first, and at most `limit`. Only conditions on the process that ended
    /// and on its service have an effect. Each end is stored once: the same process at the same time. They are kept as long as
    /// hourly points.
    func processEnds(in window: TimeWindow, _ filter: RequestFilter, limit: Int) async throws -> [StoredEnd]

    /// Returns the values of a dimension.
    func values(_ query: ValuesQuery) async throws -> ValuesAnswer

    /// Returns a page of kept requests. Throws ``UnknownRequest`` if the last request of the previous page is no longer kept.
    func requests(_ query: RequestsQuery) async throws -> RequestsAnswer

    /// Returns the kept request or span with this id; `nil` if there is none.
    func request(_ id: String) async throws -> StoredSpan?

    /// Returns the kept spans of a trace, at most `limit`; none for an unknown trace. If there are more, failed spans are taken
    /// first, then those that began first.
    func spans(ofTrace trace: TraceID, limit: Int) async throws -> TraceAnswer

    /// Returns the calls between services that kept spans show at both ends. It looks at the latest `limit` of the window's server
    /// spans whose senders the filter selects. It adds up to `limit` remembered calls of deleted spans (``maintain()``), selected
    /// by the callee's service and environment. A filter for a version or an instance selects no remembered calls.
    func calls(in window: TimeWindow, _ filter: RequestFilter, limit: Int) async throws -> Set<ObservedCall>

    /// Deletes all spans that are kept at the moment of the call, and returns their number. Counted requests and calls stay.
    func removeDetails() async throws -> Int

    /// Returns the senders that were seen at `time` or later, by the collector's clock, and that the filter selects. The most
    /// recently seen come first, and at most `limit`.
    func agents(seenSince time: UnixNanoseconds, _ filter: RequestFilter, limit: Int) async throws -> AgentsAnswer

    /// Returns what a receiver of notifications acknowledged last about a finding; `nil` if nothing, or too long ago
    /// (``NotifiedState/age``).
    func notified(_ key: NotificationKey) async throws -> NotifiedState?

    /// Keeps what a receiver has acknowledged about a finding.
    func setNotified(_ key: NotificationKey, _ state: NotifiedState) async throws

    /// Stores findings. A record replaces the one with its environment and id.
    ///
    /// - Parameter removed: records that are no finding any more, with the time at which that was found.
    func keep(_ findings: [FindingRecord], removing removed: [FindingRecord]) async throws

    /// Returns the kept findings that reach into a window.
    func findings(_ query: FindingRecordsQuery) async throws -> [FindingRecord]

    /// Returns whether a collector computes the findings of this store for the next seconds. One of its collectors does at a time.
    /// The one that does keeps the lease as long as it renews it in time. With 0 seconds it gives the lease back.
    ///
    /// - Parameter owner: the collector's name: letters and digits, a new one in each process.
    func leaseFindings(to owner: String, seconds: Int) async throws -> Bool

    /// The refusals of each sender since the collector that serves this store started; none for a store without a collector. Other
    /// collectors on the same store have refused other telemetry. Reading it is free and never waits.
    var refused: [RefusedTelemetry] { get }

    /// The reason why the store cannot accept batches now, in a sentence; `nil` if it can. It comes from the store's latest work,
    /// so reading it is free and never waits.
    var fault: String? { get }

    /// The age up to which the store keeps anything, in nanoseconds. `nil` while it does not believe the collector's clock, because
    /// ages are unknown then. Reading it is free and never waits.
    var longestAge: UnixNanoseconds? { get }

    /// Returns the size of the store on disk, in bytes.
    func size() async throws -> UInt64

    /// Returns the facts that operators watch.
    func state() async throws -> StorageState

    /// Records the calls seen in new spans, and keeps them as long as hourly points. Makes older points coarser, and deletes
    /// data past its retention. It is called every few seconds, by one task at a time. It works in short steps, so that no
    /// caller waits long to store or to read. The figures of a window do not change while its fine points are kept.
    func maintain() async throws

    /// Returns the free bytes of the store's disk; `nil` if unknown.
    func freeBytes() async -> UInt64?
}

extension Storage {
    package var refused: [RefusedTelemetry] { [] }

    /// A store that only one collector can open needs no lease.
    package func leaseFindings(to owner: String, seconds: Int) async throws -> Bool { true }

    /// Returns an answer whose figures are all from the same moment. Throws ``TooManyGroups`` if it would be too large.
    package func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        guard let answer = try await statistics([query]).first else { throw StorageFailure("the store gave no answer") }
        return try answer.get()
    }

    /// Returns all senders that were seen at `time` or later.
    package func agents(seenSince time: UnixNanoseconds, limit: Int) async throws -> AgentsAnswer {
        try await agents(seenSince: time, RequestFilter(), limit: limit)
    }
}

package enum StoreOutcome: Sendable, Equatable {
    case stored
    /// Nothing was stored: the batch's id or all of its intervals are known, or it has no id and its points are known.
    case duplicate
    /// The batch was stored although some of its intervals had already arrived, so their requests may count twice. An agent never
    /// merges intervals that it has sent. But after a power cut its disk may have lost the note that they were sent.
    case overlapping
}

/// Receives the points and the number of spans that a commit added to the store, without data that was already stored.
package typealias OnStored = @Sendable (_ points: [InstanceMetrics], _ spans: Int) -> Void

/// The facts about a store that operators watch. A plain value.
package struct StorageState: Sendable, Equatable {
    /// Bytes of the pages in use, which the store's limit applies to.
    package var bytesInUse: UInt64 = 0
    /// The limit of these bytes.
    package var maxBytes: UInt64 = .max
    /// Whether the store would fall below its limit if everything that may be deleted early were deleted. This includes data
    /// that first has to be rolled up.
    package var mayShrink = true
    /// Bytes of the write-ahead log.
    package var logBytes: UInt64 = 0
    /// The jump of the collector's clock in seconds while the new time is not believed, so that nothing expires. Negative for a
    /// jump back; 0 if the clock is believed.
    package var clockJump: Double = 0
    /// Details deleted since the start because there were too many, by their number or bytes.
    package var crowdedDetails: UInt64 = 0
    /// Details deleted since the start because the store was full.
    package var shedDetails: UInt64 = 0
    /// Rows of finer points deleted since the start because the store was full.
    package var shedChunks: UInt64 = 0
    /// Rows of hours deleted since the start because the store was full.
    package var shedHours: UInt64 = 0
    /// Points of cumulative streams not counted since the start, because there was no room to remember their streams.
    package var uncountedPoints: UInt64 = 0

    package init() {}
}

/// The error if too much is already waiting to be written. Nothing was stored. A later attempt may succeed.
package struct StorageBusy: Error {
    package init() {}
}

/// The error of a read that took too long. The store has ended it.
package struct ReadTimeout: Error, Equatable, CustomStringConvertible {
    package var seconds: Double

    package init(seconds: Double) { self.seconds = seconds }

    package var description: String {
        """
        the answer would take longer than \(Int(seconds.rounded())) s; ask for a shorter time, for one service or for fewer \
        dimensions
        """
    }
}

/// The reason why a store cannot be used, in a sentence for the person who named it.
package struct StorageFailure: Error, Equatable, CustomStringConvertible {
    package var description: String
    /// Whether more room on the disk would have prevented the failure.
    package var isFullDisk: Bool

    package init(_ description: String, isFullDisk: Bool = false) {
        self.description = description
        self.isFullDisk = isFullDisk
    }
}

/// A store that passes every call to another store. A conforming type implements only the calls that it changes.
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

    package func histories(in window: TimeWindow, _ filter: RequestFilter) async throws -> [SenderHistory] {
        try await storage.histories(in: window, filter)
    }

    package func processEnds(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> [StoredEnd] {
        try await storage.processEnds(in: window, filter, limit: limit)
    }

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

    package func notified(_ key: NotificationKey) async throws -> NotifiedState? { try await storage.notified(key) }

    package func setNotified(_ key: NotificationKey, _ state: NotifiedState) async throws {
        try await storage.setNotified(key, state)
    }

    package func keep(_ findings: [FindingRecord], removing removed: [FindingRecord]) async throws {
        try await storage.keep(findings, removing: removed)
    }

    package func findings(_ query: FindingRecordsQuery) async throws -> [FindingRecord] {
        try await storage.findings(query)
    }

    package func leaseFindings(to owner: String, seconds: Int) async throws -> Bool {
        try await storage.leaseFindings(to: owner, seconds: seconds)
    }

    package var refused: [RefusedTelemetry] { storage.refused }

    package var fault: String? { storage.fault }

    package var longestAge: UnixNanoseconds? { storage.longestAge }

    package func size() async throws -> UInt64 { try await storage.size() }

    package func state() async throws -> StorageState { try await storage.state() }

    package func maintain() async throws { try await storage.maintain() }

    package func freeBytes() async -> UInt64? { await storage.freeBytes() }
}
