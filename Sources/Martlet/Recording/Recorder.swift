import Foundation
import MartletTelemetry
import Synchronization

/// Takes finished requests from any thread and keeps, until the next drain, exact statistics of each series and the
/// details of a few. Nothing under its lock waits for anything.
final class Recorder: Sendable {
    /// Which requests instruments should see.
    let selection: RequestSelection
    /// By the wall clock: since when it counts.
    let start = Clock.wall()
    private let namer: EndpointNamer
    private let state: Mutex<State>

    fileprivate struct State {
        /// A system call for each request would cost more than all else here.
        var random = SplitMix64(seed: .random(in: .min ... .max))
        var budget: EndpointBudget
        var sampler: DetailSampler
        var interval: RecordedInterval
        var captured: UInt64 = 0
    }

    init(_ configuration: MartletConfiguration) {
        selection = RequestSelection(include: configuration.include, exclude: configuration.exclude)
        namer = EndpointNamer(templates: configuration.endpoints)
        state = Mutex(
            State(
                budget: EndpointBudget(limit: configuration.maxEndpoints),
                sampler: DetailSampler(
                    rate: configuration.sampleRate, keepFailures: configuration.keepFailures, slow: configuration.slow),
                interval: RecordedInterval(start: start)))
    }

    /// Thread-safe; never waits for I/O.
    func record(_ request: CapturedRequest) {
        let target = RequestTarget(request.url)
        let dimensions = RequestDimensions(
            kind: request.kind, method: request.method, host: target.host, port: target.port,
            endpoint: namer.endpoint(ofPath: target.path), status: request.status, error: request.error)
        state.withLock { $0.record(request, dimensions) }
    }

    /// Takes out what was recorded since the last drain, and tells how many requests were captured until now.
    func drain(at now: UnixNanoseconds = Clock.wall()) -> (interval: RecordedInterval, captured: UInt64) {
        state.withLock { state in
            // A clock set back must not make an interval that ends before it starts, nor one in the future.
            state.interval.start = min(state.interval.start, now &- 1)
            state.interval.end = now
            let drained = state.interval
            state.interval = RecordedInterval(start: now)
            state.sampler.startInterval()
            return (drained, state.captured)
        }
    }

    /// Puts back what was drained and could not be stored: counts and distributions merge exactly, so that only the
    /// resolution in time is lost, and details beyond the limit of one interval.
    func restore(_ interval: RecordedInterval) {
        state.withLock { state in
            state.interval.start = min(interval.start, state.interval.start)
            state.interval.series.merge(interval.series) { present, restored in
                var merged = present
                merged.merge(restored)
                return merged
            }
            let room = max(0, MartletLimits.sampledDetails - state.interval.details.count)
            state.interval.details.insert(contentsOf: interval.details.suffix(room), at: 0)
            state.sampler.countDropped(max(0, interval.details.count - room))
        }
    }

    func countDroppedDetails(_ number: Int) { state.withLock { $0.sampler.countDropped(number) } }

    var captured: UInt64 { state.withLock { $0.captured } }

    /// Details that were not kept because of a limit, or could not be stored.
    var droppedDetails: UInt64 { state.withLock { $0.sampler.dropped } }
}

extension Recorder.State {
    fileprivate mutating func record(_ request: CapturedRequest, _ wanted: RequestDimensions) {
        captured &+= 1
        let dimensions = count(request, wanted)
        let traceIDLow = random.next()
        if sampler.keeps(
            traceIDLow: traceIDLow, outcome: dimensions.outcome, kind: request.kind,
            nanoseconds: request.durationNanoseconds)
        {
            interval.details.append(RequestDetail(request, dimensions: dimensions, traceIDLow: traceIDLow))
        }
    }

    /// Returns the dimensions that it was counted to: where the interval does not have the series yet, the budget decides.
    private mutating func count(_ request: CapturedRequest, _ wanted: RequestDimensions) -> RequestDimensions {
        let seconds = Double(request.durationNanoseconds) / 1e9
        if let known = interval.series.index(forKey: wanted) {
            interval.series.values[known].record(
                seconds: seconds, bytesSent: request.bytesSent, bytesReceived: request.bytesReceived)
            return wanted
        }
        let dimensions = budget.admit(wanted)
        interval.series[dimensions, default: RequestStatistics()].record(
            seconds: seconds, bytesSent: request.bytesSent, bytesReceived: request.bytesReceived)
        return dimensions
    }
}

/// What was recorded between two drains.
struct RecordedInterval: Sendable {
    var start: UnixNanoseconds
    var end: UnixNanoseconds = 0
    var series: [RequestDimensions: RequestStatistics] = [:]
    var details: [RequestDetail] = []
}
