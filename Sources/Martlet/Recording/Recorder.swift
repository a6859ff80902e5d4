import CMartletHooks
import MartletTelemetry
import Synchronization

/// Takes finished requests from any thread and keeps, until the next drain, exact statistics of each series and the
/// details of a few.
///
/// The thread that finished a request only writes it into the journal; naming and counting it is folding, which the agent's
/// thread does for a whole interval. Nothing under either lock waits for anything.
final class Recorder: Sendable {
    /// What instruments have to know.
    let settings: CaptureSettings
    /// By the wall clock: since when it counts.
    let start = Clock.wall()
    let journal: Journal
    /// The requests of an agent in memory, which keeps no details.
    let memory: RequestMemory?
    /// How much capture may do, of the agent's own decision; read wherever something is done for a request.
    private let allowed = Atomic<Allowance>(.everything)
    /// Why it may not do everything.
    private let reason = Lock<String?>(nil)
    /// Details that were not kept because they are not allowed.
    private let refused = Atomic<UInt64>(0)
    /// How long it was not to record anything.
    let unwatched = UnwatchedTime()
    /// Details may take a quarter of the agent's memory: while they become a batch, they are there three times.
    private let detailRoom: Int
    /// Answers for most requests without a lock.
    private let wanted: DetailSampler
    private let details: Lock<Details>
    private let state: Lock<State>
    private let process = martlet_process()

    /// Kept details that wait for the end of the interval.
    private struct Details {
        /// Their spans are made when their series have their names.
        var requests: [CapturedRequest] = []
        var spans: [SpanRecord] = []
        var sampler: DetailSampler
        /// What they hold, roughly.
        var bytes = 0
        /// The same of those that were taken out and are not let go of yet.
        var bytesTaken = 0
    }

    private struct State {
        var statistics: SeriesStatistics
        /// Requests that are counted in the statistics, of this interval and all before.
        var counted: UInt64 = 0
        /// Requests in segments that were closed and are not counted yet.
        var closed: UInt64 = 0
        /// Roughly the memory of the statistics that were taken out and are not let go of yet.
        var bytesTaken = 0
    }

    init(
        _ configuration: MartletConfiguration, memory: RequestMemory? = nil,
        onFullSegment: @escaping @Sendable () -> Void = {}
    ) {
        self.memory = memory
        settings = CaptureSettings(configuration)
        let share = configuration.bufferMax / 64 / JournalFormat.headerBytes * JournalFormat.headerBytes
        journal = Journal(
            capacity: min(max(share, MartletLimits.smallestSegment), MartletLimits.segment), onFull: onFullSegment)
        detailRoom = configuration.maxMemory / 4
        wanted = DetailSampler(keepFailures: configuration.keepFailures, slow: configuration.slow)
        details = Lock(Details(sampler: wanted))
        state = Lock(State(statistics: SeriesStatistics(configuration, start: start)))
    }

    /// Whether the details of such a request are to be kept; a yes uses up some of the interval's allowance.
    func keepsDetails(isSampled: Bool, isFailure: Bool, nanoseconds: UInt64) -> Bool {
        guard memory == nil, wanted.wants(isSampled: isSampled, isFailure: isFailure, nanoseconds: nanoseconds) else {
            return false
        }
        guard allowance.keepsDetails else {
            refused.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        return details.withLock { details in
            let keeps = details.sampler.keeps(isSampled: isSampled, isFailure: isFailure, nanoseconds: nanoseconds)
            guard keeps, details.bytes + details.bytesTaken >= detailRoom else { return keeps }
            details.sampler.countDropped(1)
            return false
        }
    }

    /// Any thread; costs nothing.
    var allowance: Allowance { allowed.load(ordering: .relaxed) }

    /// - Parameter reason: why it is not everything, for `status` and the collector.
    func allow(_ allowance: Allowance, because reason: String? = nil) {
        self.reason.withLock { $0 = reason }
        allowed.store(allowance, ordering: .relaxed)
    }

    /// Why not everything is done, of the agent's own decision; `nil` while it is.
    var restriction: String? { reason.withLock { $0 } }

    /// Thread-safe; never waits for I/O. Where the journal has no room, the request is counted in memory at once. A forked
    /// child has not the memory of its parent's journal, and records nothing in it.
    func record(_ request: borrowing CapturedRequest) {
        guard process == martlet_process() else { return }
        if request.makeSpan != nil { keep(copy request) }
        memory?.add(copy request)
        if !journal.append(request) { count(copy request) }
    }

    private func count(_ request: CapturedRequest) {
        state.withLock { state in
            state.statistics.count(request)
            state.counted &+= 1
        }
    }

    private func keep(_ request: CapturedRequest) {
        details.withLock { details in
            details.requests.append(request)
            details.bytes += request.detailBytes
        }
    }

    /// Keeps a span that is no request, after ``keepsDetails(isSampled:isFailure:nanoseconds:)`` said so.
    ///
    /// - Parameter bytes: what it holds, roughly.
    func keep(_ span: SpanRecord, bytes: Int) {
        details.withLock { details in
            details.spans.append(span)
            details.bytes += bytes
        }
    }

    func countDroppedDetails(_ number: Int) { details.withLock { $0.sampler.countDropped(number) } }

    /// Roughly what is held at this moment, in bytes, and what was taken out and is still there; the journal's own memory
    /// is not in it.
    var estimatedBytes: Int {
        details.withLock { $0.bytes + $0.bytesTaken } + state.withLock { $0.statistics.estimatedBytes + $0.bytesTaken }
    }

    var captured: UInt64 { state.withLock { $0.counted &+ $0.closed &+ UInt64(journal.count) } }

    /// Details that were not kept because of a limit, or could not be stored.
    var droppedDetails: UInt64 { details.withLock { $0.sampler.dropped } &+ refused.load(ordering: .relaxed) }

    /// Whether there is anything that no interval has.
    var isEmpty: Bool {
        let isEmpty = details.withLock { $0.requests.isEmpty && $0.spans.isEmpty }
        return isEmpty && journal.count == 0 && state.withLock { $0.statistics.isEmpty && $0.closed == 0 }
    }

    /// Whether there are requests that found no room in the journal.
    var hasUnjournaled: Bool { state.withLock { !$0.statistics.isEmpty } }

    // MARK: For the agent's thread alone

    /// Notes that segments with so many requests are closed; `close` must not wait for anything.
    ///
    /// - Returns: what `close` returned.
    func noteClosed(_ close: () -> Int?) -> Bool {
        state.withLock { state in
            guard let requests = close() else { return false }
            state.closed &+= UInt64(requests)
            return true
        }
    }

    /// Counts the records of a closed lane.
    func fold(_ lane: JournalKeeper.ClosedLane) {
        var reader = JournalReader(lane.records, seed: lane.seed)
        var isMore = true
        while isMore {
            isMore = state.withLock { state in
                for _ in 0..<MartletLimits.fold {
                    guard let record = reader.next() else { return false }
                    if state.statistics.count(record) { state.counted &+= 1 }
                    state.closed &-= min(1, state.closed)
                }
                return true
            }
        }
    }

    /// Takes out what was counted since the last drain, with the details of that time, and tells how many requests were
    /// counted until now. What was taken out counts to the memory until ``noteReleased()``.
    func drain(at now: UnixNanoseconds = Clock.wall()) -> (interval: RecordedInterval, captured: UInt64) {
        let unwatched = unwatched.nanoseconds()
        let (requests, spans) = details.withLock { details in
            details.sampler.startInterval()
            details.bytesTaken += details.bytes
            details.bytes = 0
            defer { (details.requests, details.spans) = ([], []) }
            return (details.requests, details.spans)
        }
        var (interval, captured) = state.withLock { state in
            state.closed = 0
            let named = requests.map { ($0, state.statistics.dimensions(of: $0)) }
            state.bytesTaken += state.statistics.estimatedBytes
            return ((state.statistics.take(at: now), named), state.counted)
        }
        interval.0.details = interval.1.compactMap { request, dimensions in request.makeSpan?(dimensions) } + spans
        interval.0.unwatched = unwatched
        return (interval.0, captured)
    }

    /// Nobody has what was drained any more.
    func noteReleased() {
        details.withLock { $0.bytesTaken = 0 }
        state.withLock { $0.bytesTaken = 0 }
    }
}

/// What was recorded between two drains.
struct RecordedInterval: Sendable {
    var start: UnixNanoseconds
    var end: UnixNanoseconds = 0
    var series: [RequestDimensions: RequestStatistics] = [:]
    var details: [SpanRecord] = []
    /// Nanoseconds without capture, from the start of all to the end of the interval.
    var unwatched: UInt64 = 0
}
