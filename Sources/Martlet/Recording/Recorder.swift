import Foundation
import MartletTelemetry
import Synchronization

/// Takes finished requests from any thread and keeps, until the next drain, exact statistics of each series and the
/// details of a few. The work under its lock is a few look-ups; nothing under it waits for anything.
final class Recorder: Sendable {
    private let namer: EndpointNamer
    private let state: Mutex<State>

    private struct State {
        var budget: EndpointBudget
        var sampler: DetailSampler
        var interval: RecordedInterval
        var captured: UInt64 = 0
    }

    init(_ configuration: MartletConfiguration) {
        namer = EndpointNamer(templates: configuration.endpoints)
        state = Mutex(
            State(
                budget: EndpointBudget(limit: configuration.maxEndpoints),
                sampler: DetailSampler(
                    rate: configuration.sampleRate, keepFailures: configuration.keepFailures, slow: configuration.slow),
                interval: RecordedInterval(start: Clock.wall())))
    }

    /// Thread-safe; never waits for I/O.
    func record(_ request: CapturedRequest) {
        let endpoint = namer.endpoint(ofPath: request.url.path(percentEncoded: true))
        let host = request.url.host(percentEncoded: true)?.lowercased() ?? ""
        let port = request.url.port ?? (request.url.scheme?.lowercased() == "https" ? 443 : 80)
        let traceIDLow = UInt64.random(in: .min ... .max)
        state.withLock { state in
            let named = state.budget.admit(host: host, port: port, endpoint: endpoint)
            let dimensions = RequestDimensions(
                kind: request.kind, method: request.method, host: named.host, port: named.port,
                endpoint: named.endpoint, status: request.status, error: request.error)
            state.captured &+= 1
            state.interval.series[dimensions, default: RequestStatistics()].record(
                seconds: Double(request.durationNanoseconds) / 1e9, bytesSent: request.bytesSent,
                bytesReceived: request.bytesReceived)
            if state.sampler.keeps(
                traceIDLow: traceIDLow, outcome: dimensions.outcome, kind: request.kind,
                nanoseconds: request.durationNanoseconds)
            {
                state.interval.details.append(
                    RequestDetail(request, dimensions: dimensions, traceIDLow: traceIDLow))
            }
        }
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

    var captured: UInt64 { state.withLock { $0.captured } }

    /// Details that were not kept because of a limit.
    var droppedDetails: UInt64 { state.withLock { $0.sampler.dropped } }
}

/// What was recorded between two drains.
struct RecordedInterval: Sendable {
    var start: UnixNanoseconds
    var end: UnixNanoseconds = 0
    var series: [RequestDimensions: RequestStatistics] = [:]
    var details: [RequestDetail] = []
}
