import Foundation
import MartletTelemetry
import Synchronization

/// Takes finished requests from any thread and keeps, until the next drain, exact statistics of each series and the
/// details of a few.
///
/// The thread that finished a request only puts it down; naming and counting it is folding, which the agent's thread does
/// for many at once. Nothing under either lock waits for anything.
final class Recorder: Sendable {
    /// What instruments have to know.
    let settings: CaptureSettings
    /// By the wall clock: since when it counts.
    let start = Clock.wall()
    /// Told when there is enough to fold.
    private let onBacklog: @Sendable () -> Void
    /// Details may take half of the agent's memory.
    private let detailRoom: Int
    private let backlog: Mutex<Backlog>
    private let state: Mutex<State>

    private struct Backlog {
        var requests: [CapturedRequest] = []
        var spans: [SpanRecord] = []
        var captured: UInt64 = 0
        var sampler: DetailSampler
        var allowsDetails = true
        /// Of the details that wait here and in the interval.
        var detailBytes = 0
    }

    fileprivate struct State {
        let namer: EndpointNamer
        /// Takes turns with the backlog, so that neither has to grow anew: fresh memory costs more than all else here.
        var folding: [CapturedRequest] = []
        var budget: EndpointBudget
        var interval: RecordedInterval
    }

    init(_ configuration: MartletConfiguration, onBacklog: @escaping @Sendable () -> Void = {}) {
        settings = CaptureSettings(configuration)
        self.onBacklog = onBacklog
        detailRoom = configuration.maxMemory / 2
        backlog = Mutex(
            Backlog(sampler: DetailSampler(keepFailures: configuration.keepFailures, slow: configuration.slow)))
        state = Mutex(
            State(
                namer: EndpointNamer(templates: configuration.endpoints),
                budget: EndpointBudget(limit: configuration.maxEndpoints),
                interval: RecordedInterval(start: start)))
    }

    /// Whether the details of such a request are to be kept; a yes uses up some of the interval's allowance.
    func keepsDetails(isSampled: Bool, isFailure: Bool, nanoseconds: UInt64) -> Bool {
        backlog.withLock { backlog in
            let keeps = backlog.sampler.keeps(isSampled: isSampled, isFailure: isFailure, nanoseconds: nanoseconds)
            guard keeps, !backlog.allowsDetails || backlog.detailBytes >= detailRoom else { return keeps }
            backlog.sampler.countDropped(1)
            return false
        }
    }

    /// Whether details are kept at all. What is counted does not depend on it.
    func allowDetails(_ allows: Bool) { backlog.withLock { $0.allowsDetails = allows } }

    /// Thread-safe; never waits for I/O. Where the agent's thread does not get to run, the caller folds.
    func record(_ request: CapturedRequest) {
        let waiting = backlog.withLock { backlog in
            backlog.captured &+= 1
            backlog.requests.append(request)
            backlog.detailBytes += request.detailBytes
            return backlog.requests.count
        }
        if waiting == MartletLimits.backlog { onBacklog() }
        if waiting >= MartletLimits.longestBacklog { fold() }
    }

    /// Keeps a span that is no request, after ``keepsDetails(isSampled:isFailure:nanoseconds:)`` said so.
    ///
    /// - Parameter bytes: what it holds, roughly.
    func keep(_ span: SpanRecord, bytes: Int) {
        backlog.withLock { backlog in
            backlog.spans.append(span)
            backlog.detailBytes += bytes
        }
    }

    /// Counts what was put down.
    func fold() {
        state.withLock { state in
            // Taken under the other lock, so that whoever drains finds all that was recorded before.
            let spans = backlog.withLock { backlog in
                swap(&backlog.requests, &state.folding)
                defer { backlog.spans = [] }
                return backlog.spans
            }
            for request in state.folding { state.count(request) }
            state.folding.removeAll(keepingCapacity: state.folding.count < MartletLimits.longestBacklog)
            state.interval.details += spans
        }
    }

    /// Takes out what was recorded since the last drain, and tells how many requests were captured until now.
    func drain(at now: UnixNanoseconds = Clock.wall()) -> (interval: RecordedInterval, captured: UInt64) {
        fold()
        let (captured, detailBytes) = backlog.withLock { backlog in
            backlog.sampler.startInterval()
            defer { backlog.detailBytes = 0 }
            return (backlog.captured, backlog.detailBytes)
        }
        var interval = state.withLock { $0.take(at: now) }
        interval.detailBytes = detailBytes
        return (interval, captured)
    }

    /// Puts back what was drained and could not be stored: counts and distributions merge exactly, so that only the
    /// resolution in time is lost, and details beyond the limit of one interval.
    func restore(_ interval: RecordedInterval) {
        let dropped = state.withLock { $0.restore(interval) }
        backlog.withLock { backlog in
            backlog.detailBytes += interval.detailBytes
            backlog.sampler.countDropped(dropped)
        }
    }

    func countDroppedDetails(_ number: Int) { backlog.withLock { $0.sampler.countDropped(number) } }

    /// Roughly what is held at this moment, in bytes.
    var estimatedBytes: Int {
        let details = backlog.withLock { $0.detailBytes + $0.requests.count * MemoryLayout<CapturedRequest>.stride }
        return details + state.withLock { $0.interval.series.values.reduce(0) { $0 + $1.estimatedBytes } }
    }

    var captured: UInt64 { backlog.withLock { $0.captured } }

    /// Details that were not kept because of a limit, or could not be stored.
    var droppedDetails: UInt64 { backlog.withLock { $0.sampler.dropped } }
}

extension Recorder.State {
    /// Where the interval does not have the series yet, the budget decides.
    fileprivate mutating func count(_ request: CapturedRequest) {
        let target = request.destination.target
        var dimensions = RequestDimensions(
            kind: request.kind, method: request.method, host: target.host, port: target.port,
            endpoint: request.route ?? namer.endpoint(ofPath: target.path), status: request.status,
            error: request.error)
        if interval.series.index(forKey: dimensions) == nil { dimensions = budget.admit(dimensions) }
        interval.series[dimensions, default: RequestStatistics()].record(
            seconds: Double(request.durationNanoseconds) / 1e9, bytesSent: request.bytesSent,
            bytesReceived: request.bytesReceived, phases: request.phases)
        if let span = request.makeSpan?(dimensions) { interval.details.append(span) }
    }

    fileprivate mutating func take(at now: UnixNanoseconds) -> RecordedInterval {
        // A clock set back must not make an interval that ends before it starts, nor one in the future.
        interval.start = min(interval.start, now &- 1)
        interval.end = now
        defer { interval = RecordedInterval(start: now) }
        return interval
    }

    /// Returns how many details found no room.
    fileprivate mutating func restore(_ restored: RecordedInterval) -> Int {
        interval.start = min(restored.start, interval.start)
        interval.series.merge(restored.series) { present, restored in
            var merged = present
            merged.merge(restored)
            return merged
        }
        let room = max(0, MartletLimits.sampledDetails - interval.details.count)
        interval.details.insert(contentsOf: restored.details.suffix(room), at: 0)
        return max(0, restored.details.count - room)
    }
}

/// What was recorded between two drains.
struct RecordedInterval: Sendable {
    var start: UnixNanoseconds
    var end: UnixNanoseconds = 0
    var series: [RequestDimensions: RequestStatistics] = [:]
    var details: [SpanRecord] = []
    /// Roughly what the details hold.
    var detailBytes = 0
}
