import CMartletHooks
import MartletTelemetry
import Synchronization

/// Records finished requests. It takes them from any thread and keeps, until the next drain, exact statistics of each
/// series and the details of some requests.
///
/// The thread that finished a request only writes it into the journal. The agent's thread folds a whole interval into
/// the statistics: it names and counts the requests. No code under either lock waits for anything.
final class Recorder: Sendable {
    /// The settings that instruments need.
    let settings: InstrumentSettings
    /// When the recorder began to count, by the wall clock.
    let start = Clock.wall()
    let journal: Journal
    /// The requests of an in-memory agent, which keeps no details; `nil` for any other agent.
    let recordedRequests: RecordedRequests?
    /// The rules that change requests of `URLSession`.
    let rules: ActiveRules
    /// The work that the agent currently allows for capture. Instruments read it before each step of work for a
    /// request.
    private let allowed = Atomic<Allowance>(.everything)
    /// Why the allowed work is restricted; `nil` while it is not.
    private let reason = Lock<String?>(nil)
    /// The number of details that were not kept because ``allowance`` did not permit them.
    private let refused = Atomic<UInt64>(0)
    /// The time for which capture was off.
    let captureGap = CaptureGapStopwatch()
    /// The memory that details may take, in bytes: a quarter of the agent's, because three copies exist while they
    /// become a batch.
    private let maxDetailBytes: Int
    /// A sampler that is used without limits, so that most requests need no lock.
    private let unlimitedSampler: DetailSampler
    private let details: Lock<Details>
    private let state: Lock<State>
    private let process = martlet_process()

    /// The kept details that wait for the end of the interval.
    private struct Details {
        /// Requests whose spans are made once their series have names.
        var requests: [CapturedRequest] = []
        var spans: [SpanRecord] = []
        var sampler: DetailSampler
        /// An estimate of the memory for the details, in bytes.
        var bytes = 0
        /// An estimate of the memory for drained details that are not yet released, in bytes.
        var bytesTaken = 0
    }

    private struct State {
        var statistics: SeriesStatistics
        /// The number of requests counted in the statistics, of this interval and all earlier ones.
        var counted: UInt64 = 0
        /// The number of requests in closed segments that are not counted yet.
        var closed: UInt64 = 0
        /// An estimate of the memory for drained statistics that are not yet released, in bytes.
        var bytesTaken = 0
    }

    init(
        _ configuration: MartletConfiguration, keeping recordedRequests: RecordedRequests? = nil,
        rules: ActiveRules = ActiveRules(), onFullSegment: @escaping @Sendable () -> Void = {}
    ) {
        self.recordedRequests = recordedRequests
        self.rules = rules
        settings = InstrumentSettings(configuration)
        let share = configuration.bufferMax / 64 / JournalFormat.headerBytes * JournalFormat.headerBytes
        journal = Journal(
            capacity: min(max(share, MartletLimits.smallestSegment), MartletLimits.segment), onFull: onFullSegment)
        maxDetailBytes = Int(Double(configuration.maxMemory) * MartletLimits.memoryDetails)
        unlimitedSampler = DetailSampler(keepFailures: configuration.keepFailures, slow: configuration.slow)
        details = Lock(Details(sampler: unlimitedSampler))
        state = Lock(State(statistics: SeriesStatistics(configuration, start: start)))
    }

    /// Reserves the details of a request within the interval's limits. Returns whether they are kept.
    func reserveDetails(isSampled: Bool, isFailure: Bool, nanoseconds: UInt64) -> Bool {
        guard recordedRequests == nil,
            unlimitedSampler.wants(isSampled: isSampled, isFailure: isFailure, nanoseconds: nanoseconds)
        else { return false }
        guard allowance.keepsDetails else {
            refused.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        return details.withLock { details in
            let isReserved = details.sampler.reserve(
                isSampled: isSampled, isFailure: isFailure, nanoseconds: nanoseconds)
            guard isReserved, details.bytes + details.bytesTaken >= maxDetailBytes else { return isReserved }
            details.sampler.countDropped(1)
            return false
        }
    }

    /// The work that the agent currently allows. Thread-safe; reading it costs nothing.
    var allowance: Allowance { allowed.load(ordering: .relaxed) }

    /// Sets the allowed work.
    ///
    /// - Parameter reason: why it is restricted, for `status` and the collector; `nil` for no restriction.
    func allow(_ allowance: Allowance, because reason: String? = nil) {
        self.reason.withLock { $0 = reason }
        allowed.store(allowance, ordering: .relaxed)
    }

    /// Why the agent has restricted the work of capture; `nil` if it has not.
    var restriction: String? { reason.withLock { $0 } }

    /// Records a request. Thread-safe; never waits for I/O. If the journal has no room, the request is counted in
    /// memory at once. A forked child records nothing here, because it does not have the memory of its parent's
    /// journal.
    func record(_ request: borrowing CapturedRequest) {
        guard process == martlet_process() else { return }
        guard let name = settings.decisions.name(of: request) else { return take(request) }
        var named = copy request
        named.route = name
        take(named)
    }

    private func take(_ request: borrowing CapturedRequest) {
        if request.makeSpan != nil { keep(copy request) }
        recordedRequests?.add(copy request)
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

    /// Keeps a span that is not a request. Call it after ``reserveDetails(isSampled:isFailure:nanoseconds:)`` returned
    /// `true`.
    ///
    /// - Parameter bytes: an estimate of the memory for the span.
    func keep(_ span: SpanRecord, bytes: Int) {
        details.withLock { details in
            details.spans.append(span)
            details.bytes += bytes
        }
    }

    func countDroppedDetails(_ number: Int) { details.withLock { $0.sampler.countDropped(number) } }

    /// An estimate of the memory in bytes, for the current interval and for drained intervals that are not yet
    /// released. Excludes the journal's own memory.
    var estimatedBytes: Int {
        details.withLock { $0.bytes + $0.bytesTaken } + state.withLock { $0.statistics.estimatedBytes + $0.bytesTaken }
    }

    var captured: UInt64 { state.withLock { $0.counted &+ $0.closed &+ UInt64(journal.count) } }

    /// The number of details that were not kept because of a limit, or could not be stored.
    var droppedDetails: UInt64 { details.withLock { $0.sampler.dropped } &+ refused.load(ordering: .relaxed) }

    /// Whether nothing was recorded since the last drain.
    var isEmpty: Bool {
        let isEmpty = details.withLock { $0.requests.isEmpty && $0.spans.isEmpty }
        return isEmpty && journal.count == 0 && state.withLock { $0.statistics.isEmpty && $0.closed == 0 }
    }

    /// Whether the statistics hold requests that the journal did not take.
    var hasRequestsInMemory: Bool { state.withLock { !$0.statistics.isEmpty } }

    // MARK: Only for the agent's thread

    /// Closes segments and counts the requests in them as captured.
    ///
    /// - Parameter close: closes the segments and returns the number of requests in them, or `nil` if it closed none. It must
    ///   not wait for anything.
    /// - Returns: whether `close` closed segments.
    func closeSegments(_ close: () -> Int?) -> Bool {
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
                for _ in 0..<MartletLimits.recordsPerFold {
                    guard let record = reader.next() else { return false }
                    if state.statistics.count(record) { state.counted &+= 1 }
                    state.closed &-= min(1, state.closed)
                }
                return true
            }
        }
    }

    /// Takes out the statistics and details since the last drain. Returns them with the number of requests counted
    /// until now. Both count towards ``estimatedBytes`` until ``noteReleased()``.
    func drain(at now: UnixNanoseconds = Clock.wall()) -> (interval: RecordedInterval, captured: UInt64) {
        let captureGap = captureGap.nanoseconds()
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
        interval.0.captureGap = captureGap
        return (interval.0, captured)
    }

    /// Notes that all drained intervals are released.
    func noteReleased() {
        details.withLock { $0.bytesTaken = 0 }
        state.withLock { $0.bytesTaken = 0 }
    }
}

/// The work that the agent may do: each step gives up a little more. The hot path reads it as an atomic.
enum Allowance: UInt8, AtomicRepresentable, CaseIterable {
    case everything
    case withoutDetails
    /// Requests are only counted and timed.
    case countsOnly
    /// Capture is paused.
    case nothing

    var keepsDetails: Bool { self == .everything }

    /// Whether phases are read, trace headers sent, and spans recorded that are not requests.
    var traces: Bool { rawValue <= Allowance.withoutDetails.rawValue }

    /// The next step with less work; `nil` if nothing is left to give up.
    var less: Allowance? { Allowance(rawValue: rawValue + 1) }

    /// The previous step with more work; `nil` if nothing was given up.
    var more: Allowance? { rawValue == 0 ? nil : Allowance(rawValue: rawValue - 1) }
}

/// Decides which requests' details are kept, within limits for each interval. It never affects counts. A pure value.
struct DetailSampler: Sendable {
    private let keepFailures: Bool
    private let slowNanoseconds: UInt64
    private var sampled = 0
    private var failures = 0
    private var slow = 0
    /// The number of details that were wanted but not kept.
    private(set) var dropped: UInt64 = 0

    init(keepFailures: Bool, slow: Duration) {
        self.keepFailures = keepFailures
        slowNanoseconds = slow.nanoseconds
    }

    /// Returns whether details are wanted, without regard to limits. Costs nothing.
    func wants(isSampled: Bool, isFailure: Bool, nanoseconds: UInt64) -> Bool {
        isSampled || (keepFailures && isFailure) || nanoseconds >= slowNanoseconds
    }

    /// Reserves details within the interval's limits. Returns `false` for a request whose details are not kept, and
    /// counts them as dropped if they were wanted.
    mutating func reserve(isSampled: Bool, isFailure: Bool, nanoseconds: UInt64) -> Bool {
        let isFailure = keepFailures && isFailure
        let isSlow = nanoseconds >= slowNanoseconds
        guard isSampled || isFailure || isSlow else { return false }
        if isSampled, Self.reserve(&sampled, MartletLimits.sampledDetails) { return true }
        if isFailure, Self.reserve(&failures, MartletLimits.failureDetails) { return true }
        if isSlow, Self.reserve(&slow, MartletLimits.slowDetails) { return true }
        dropped &+= 1
        return false
    }

    mutating func countDropped(_ number: Int) { dropped &+= UInt64(number) }

    mutating func startInterval() {
        sampled = 0
        failures = 0
        slow = 0
    }

    private static func reserve(_ reserved: inout Int, _ limit: Int) -> Bool {
        guard reserved < limit else { return false }
        reserved += 1
        return true
    }
}

/// Measures the time for which capture is off while its agent runs, by the monotonic clock. Thread-safe.
final class CaptureGapStopwatch: Sendable {
    private let state = Lock(State())

    private struct State {
        var total: UInt64 = 0
        /// When capture went off; `nil` while it is on.
        var since: UInt64?

        func nanoseconds(at now: UInt64) -> UInt64 { total &+ (since.map { now - min(now, $0) } ?? 0) }
    }

    /// Notes that capture is off, until ``end(at:)``.
    func begin(at now: UInt64 = Clock.monotonic()) { state.withLock { $0.since = $0.since ?? now } }

    func end(at now: UInt64 = Clock.monotonic()) {
        state.withLock { $0 = State(total: $0.nanoseconds(at: now)) }
    }

    /// Returns the nanoseconds without capture until `now`, including a period that has not ended.
    func nanoseconds(at now: UInt64 = Clock.monotonic()) -> UInt64 { state.withLock { $0.nanoseconds(at: now) } }

    /// Whether the stopwatch is running, because capture is off.
    var isCounting: Bool { state.withLock { $0.since != nil } }
}
