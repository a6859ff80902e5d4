import MartletStorage
import MartletTelemetry

/// The outgoing requests that a service makes for each request that it serves, by called endpoint. Pure.
package struct CallsPerRequest: Sendable, Equatable {
    /// The calls of one endpoint.
    package struct Row: Sendable, Equatable {
        package let called: CalledEndpoint
        /// The calls for each served request.
        package let calls: Double
        /// The same in the earlier window; `nil` if it is unknown.
        package let before: Double?
        /// The time of the calls as a share of the time of the served requests. Calls at the same time may add up to more than 1.
        package let share: Double
    }

    /// The called endpoints, those with the most calls first.
    package let rows: [Row]
    /// The served requests.
    package let served: UInt64
    /// The kept traces that show which calls belong to the served requests. `nil` if the service served no other requests, so that
    /// the counts show it.
    package let traces: Int?
    /// The number of called endpoints that were left out, because no kept trace shows what their calls were made for.
    package let unknown: Int

    /// Whether nothing is known to be called.
    package var isEmpty: Bool { rows.isEmpty && unknown == 0 }

    init(_ now: ServedCalls, before: ServedCalls) {
        let figures = now.called.union(before.called).map { called in
            (called: called, now: now.perRequest(called), before: before.perRequest(called))
        }
        rows = figures.compactMap { called, now, before -> Row? in
            guard let now, now.calls > 0 || before?.calls ?? 0 > 0 else { return nil }
            return Row(called: called, calls: now.calls, before: before?.calls, share: now.share)
        }.sorted { ($1.calls, $0.called) < ($0.calls, $1.called) }
        served = now.served.count
        traces = now.split?.traces.count
        unknown = figures.count { $0.now == nil }
    }
}

/// An endpoint that a service calls.
package struct CalledEndpoint: Sendable, Hashable, Comparable {
    package let method: String
    /// The host with its port.
    package let host: String
    package let endpoint: String
    /// `nil` for HTTP.
    package let system: String?

    /// The dimensions of the groups that calls are counted in.
    static let dimensions: [Dimension] = [.method, .host, .endpoint, .system]

    /// - Parameter values: the values of ``dimensions``.
    init(_ values: [String?]) {
        (method, host, endpoint, system) = (values[0] ?? "", values[1] ?? "", values[2] ?? "", values[3])
    }

    init(_ request: RequestDimensions) { self.init(Self.dimensions.map { $0.value(of: request) }) }

    package static func < (one: CalledEndpoint, other: CalledEndpoint) -> Bool {
        (one.host, one.endpoint, one.method, one.system ?? "")
            < (other.host, other.endpoint, other.method, other.system ?? "")
    }
}

/// The calls of a service in one window, and the served requests that they are divided by.
struct ServedCalls {
    /// The selected served requests.
    let served: RequestGroup
    /// The share of the calls that belong to them; `nil` if the service served no others.
    let split: CallSplit?
    private let calls: [CalledEndpoint: RequestGroup]
    /// Whether `calls` has all called endpoints.
    private let isWhole: Bool

    /// - Parameters:
    ///   - calls: the service's outgoing requests by ``CalledEndpoint/dimensions``.
    init(_ calls: StatisticsAnswer, served: RequestGroup, split: CallSplit?) {
        self.calls = Dictionary(calls.groups.map { (CalledEndpoint($0.values), $0) }) { first, _ in first }
        isWhole = calls.groups.count == calls.groupCount
        (self.served, self.split) = (served, split)
    }

    var called: Set<CalledEndpoint> { Set(calls.keys) }

    /// Returns the calls of an endpoint for each served request, and the share of their time; `nil` if they are unknown.
    func perRequest(_ called: CalledEndpoint) -> (calls: Double, share: Double)? {
        guard served.count > 0 else { return nil }
        guard let group = calls[called] else { return isWhole ? (0, 0) : nil }
        guard let part = split.map({ $0.share(of: called) }) ?? 1 else { return nil }
        let time = served.time > 0 ? group.time * part / served.time : 0
        return (Double(group.count) * part / Double(served.count), time)
    }
}

/// The calls of a service by the served requests that they were made for, as kept traces show it.
struct CallSplit {
    /// The most spans around a call that are looked at.
    private static let maxSteps = 64

    /// What a call was made for.
    private enum Purpose {
        case selected, other, unknown
    }

    private struct Key: Hashable {
        let trace: TraceID
        let span: SpanID
    }

    /// The traces with a call whose purpose is known.
    private(set) var traces: Set<TraceID> = []
    private var calls: [CalledEndpoint: (selected: Int, all: Int)] = [:]
    private let spans: [Key: SpanRecord]
    private let served: [TraceID: [SpanRecord]]
    private let filter: RequestFilter

    /// - Parameters:
    ///   - kept: requests of the service, which may be from a part of the window only.
    ///   - filter: selects the served requests.
    init(_ kept: [StoredSpan], served filter: RequestFilter) {
        let records = kept.map(\.span)
        spans = Dictionary(records.map { (Key(trace: $0.traceID, span: $0.spanID), $0) }) { first, _ in first }
        served = Dictionary(grouping: records.filter { $0.request?.kind == .server }) { $0.traceID }
        self.filter = filter
        for span in records {
            guard let request = span.request, request.kind == .client else { continue }
            let purpose = purpose(of: span)
            guard purpose != .unknown else { continue }
            traces.insert(span.traceID)
            let known = calls[CalledEndpoint(request)] ?? (0, 0)
            calls[CalledEndpoint(request)] = (known.selected + (purpose == .selected ? 1 : 0), known.all + 1)
        }
    }

    /// Returns the share of the calls of an endpoint that were made for the selected requests; `nil` if it is unknown.
    func share(of called: CalledEndpoint) -> Double? {
        calls[called].map { Double($0.selected) / Double($0.all) }
    }

    /// A call belongs to the served request around it. Spans that are no requests may be in between, which are unknown here: it then
    /// belongs to the trace's served requests, if all of them are selected or none is.
    private func purpose(of call: SpanRecord) -> Purpose {
        var (span, steps) = (call, 0)
        while let parent = span.parentSpanID, steps < Self.maxSteps,
            let above = spans[Key(trace: span.traceID, span: parent)]
        {
            if above.request?.kind == .server { return isSelected(above) ? .selected : .other }
            (span, steps) = (above, steps + 1)
        }
        // A call without anything around it was made for no request.
        if span.parentSpanID == nil { return .other }
        let purposes = Set((served[call.traceID] ?? []).map(isSelected))
        guard purposes.count == 1, let isSelected = purposes.first else { return .unknown }
        return isSelected ? .selected : .other
    }

    private func isSelected(_ span: SpanRecord) -> Bool { span.request.map(filter.matches) ?? false }
}

/// A query for the calls of a service for each request that it serves.
package struct CallsPerRequestQuery: Sendable {
    /// The most called endpoints.
    private static let maxCalled = 100
    /// The most kept requests of each window that are looked at. The latest are taken.
    private static let maxKept = 1000

    /// The served requests.
    private let served: RequestFilter
    /// All requests of the processes that served them.
    private let senders: RequestFilter

    /// - Parameters:
    ///   - filter: selects the served requests.
    ///   - service: the service that serves them.
    package init(served filter: RequestFilter, of service: String) {
        var senders = RequestFilter(filter.wanted.filter { $0.key.isSenderAttribute })
        senders.select(.service, service)
        self.senders = senders
        var served = filter
        served.select(.service, service)
        self.served = served.only(.server)
    }

    /// Returns the calls for each request in a window, and in the one before. Reads the counts of both windows in one call of the
    /// store. Reads kept requests only if the service also served others than the selected ones.
    ///
    /// - Throws: ``TooManyGroups``, or the store's error.
    package func answer(
        in window: TimeWindow, before: TimeWindow, from storage: some Storage
    ) async throws -> CallsPerRequest {
        let answers = try await storage.statistics([window, before].flatMap(queries))
        let (now, earlier) = (Array(answers.prefix(3)), Array(answers.dropFirst(3)))
        return CallsPerRequest(
            try await calls(now, in: window, storage), before: try await calls(earlier, in: before, storage))
    }

    /// The queries for the calls, for the selected served requests and for all served requests.
    private func queries(in window: TimeWindow) -> [StatisticsQuery] {
        var calls = StatisticsQuery(
            window: window, filter: senders.only(.client), by: CalledEndpoint.dimensions, order: GroupOrder(.count),
            limit: Self.maxCalled)
        calls.hasFigures = false
        return [calls]
            + [served, senders.only(.server)].map { StatisticsQuery(window: window, filter: $0, by: [.kind]) }
    }

    private func calls(
        _ answers: [Result<StatisticsAnswer, TooManyGroups>], in window: TimeWindow, _ storage: some Storage
    ) async throws -> ServedCalls {
        let calls = try answers[0].get()
        let (selected, all) = (try answers[1].get().total, try answers[2].get().total)
        guard selected.count < all.count, !calls.groups.isEmpty else {
            return ServedCalls(calls, served: selected, split: nil)
        }
        let kept = try await storage.requests(
            RequestsQuery(window: window, filter: senders, limit: Self.maxKept))
        return ServedCalls(calls, served: selected, split: CallSplit(kept.requests, served: served))
    }
}

extension RequestFilter {
    /// Returns the filter for requests of one kind.
    fileprivate func only(_ kind: RequestKind) -> RequestFilter {
        var filter = self
        filter.removeAll(.kind)
        filter.select(.kind, kind.rawValue)
        return filter
    }
}
