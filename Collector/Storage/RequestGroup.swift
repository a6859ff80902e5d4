import MartletTelemetry

/// The requests that share the values of a query's dimensions. Failed requests are counted separately, because their durations say
/// nothing about the callers' satisfaction. A plain value.
package struct RequestGroup: Sendable, Equatable {
    /// A value for each dimension of the query, in its order.
    package var values: [String?]
    /// The figures as one element; empty for a group without requests. An answer has tens of thousands of groups, mostly single
    /// slots. In an array, copies share the large figures, and an empty group has none.
    private var figures: [Figures] = []

    private struct Figures: Sendable, Equatable {
        var succeeded = RequestStatistics()
        var failed = RequestStatistics()
        var outcomes = OutcomeCounts()
        var fromSpans: UInt64 = 0
        var changed: UInt64 = 0
        var latestEnd: UnixNanoseconds = 0
        var earliestEnd: UnixNanoseconds = .max

        /// Whether there are neither requests nor body sizes. Reads the statistics without copying them, because an answer with
        /// slots asks this tens of thousands of times.
        var isEmpty: Bool {
            succeeded.duration.count == 0 && failed.duration.count == 0 && succeeded.bytesSent == 0
                && failed.bytesSent == 0
                && succeeded.bytesReceived == 0 && failed.bytesReceived == 0
        }

        mutating func count(_ requests: RequestClass, _ added: UInt64) {
            outcomes[requests.outcome] &+= added
            if requests.comesFromSpans { fromSpans &+= added }
            if requests.isChanged { changed &+= added }
        }
    }

    /// Creates a group without requests.
    package init(values: [String?]) {
        self.values = values
    }

    /// Creates a group with only counts and times.
    package init(values: [String?], _ rank: RankFigures) {
        self.init(values: values)
        makeFigures()
        (figures[0].succeeded.duration, figures[0].failed.duration) = (rank.succeeded, rank.failed)
    }

    package static func == (one: RequestGroup, other: RequestGroup) -> Bool {
        one.values == other.values && one.figures.first ?? Figures() == other.figures.first ?? Figures()
    }

    package var succeeded: RequestStatistics { figures.isEmpty ? RequestStatistics() : figures[0].succeeded }
    package var failed: RequestStatistics { figures.isEmpty ? RequestStatistics() : figures[0].failed }
    package var outcomes: OutcomeCounts { figures.isEmpty ? OutcomeCounts() : figures[0].outcomes }
    /// Requests that only spans reported.
    package var fromSpans: UInt64 { figures.isEmpty ? 0 : figures[0].fromSpans }
    /// Requests that a rule of their agent changed.
    package var changed: UInt64 { figures.isEmpty ? 0 : figures[0].changed }

    /// The ends of the first and of the latest interval with requests of the group, as exactly as the store knows them; `nil`
    /// if unknown.
    package var ends: ClosedRange<UnixNanoseconds>? {
        get {
            guard let figures = figures.first, figures.earliestEnd <= figures.latestEnd else { return nil }
            return figures.earliestEnd...figures.latestEnd
        }
        set {
            makeFigures()
            (figures[0].earliestEnd, figures[0].latestEnd) = (newValue?.lowerBound ?? .max, newValue?.upperBound ?? 0)
        }
    }

    /// The end of the latest interval with requests of the group, as exactly as the store knows it; 0 if the group is empty.
    package var latestEnd: UnixNanoseconds { figures.isEmpty ? 0 : figures[0].latestEnd }

    package var count: UInt64 {
        figures.isEmpty ? 0 : figures[0].succeeded.duration.count &+ figures[0].failed.duration.count
    }

    /// The number of failed requests.
    package var failedCount: UInt64 { figures.isEmpty ? 0 : figures[0].failed.duration.count }

    /// The statistics of all requests, failed or not.
    package var statistics: RequestStatistics {
        var all = succeeded
        all.merge(failed)
        return all
    }

    /// Returns quantiles of the durations of all requests, in ascending order; `nil` if there are none.
    package func quantiles(_ shares: [Double]) -> [Double?] {
        figures.isEmpty
            ? shares.map { _ in nil }
            : figures[0].succeeded.duration.quantiles(shares, with: figures[0].failed.duration)
    }

    package var isEmpty: Bool { figures.isEmpty || figures[0].isEmpty }

    /// Adds requests of one class. `body` adds them to the statistics that it receives: those of failed requests, or those of all
    /// others.
    ///
    /// - Parameters:
    ///   - end: the end of the requests' interval; the latest end if there are several intervals.
    ///   - first: the earliest end of the requests' intervals; `nil` if there is only one.
    /// - Returns: the bytes by which the memory of the sketches grew.
    @discardableResult
    package mutating func add(
        _ requests: RequestClass, until end: UnixNanoseconds = 0, from first: UnixNanoseconds? = nil,
        _ body: (inout RequestStatistics) -> Void
    ) -> Int {
        makeFigures()
        // The loop over a window's points calls this, so it accesses the figures only once.
        return Self.add(requests, until: end, from: first ?? end, to: &figures[0], body)
    }

    private static func add(
        _ requests: RequestClass, until end: UnixNanoseconds, from first: UnixNanoseconds, to figures: inout Figures,
        _ body: (inout RequestStatistics) -> Void
    ) -> Int {
        figures.latestEnd = max(figures.latestEnd, end)
        figures.earliestEnd = min(figures.earliestEnd, first)
        let (added, growth) =
            requests.isFailure ? Self.change(&figures.failed, body) : Self.change(&figures.succeeded, body)
        figures.count(requests, added)
        return growth * MemoryLayout<UInt64>.stride
    }

    /// Returns how many requests and buckets `body` adds.
    private static func change(
        _ statistics: inout RequestStatistics, _ body: (inout RequestStatistics) -> Void
    ) -> (added: UInt64, growth: Int) {
        let (count, buckets) = (statistics.duration.count, statistics.duration.bucketCount)
        body(&statistics)
        return (statistics.duration.count &- count, statistics.duration.bucketCount - buckets)
    }

    /// The memory of the sketches, in bytes.
    package var sketchBytes: Int {
        guard !figures.isEmpty else { return 0 }
        let buckets = figures[0].succeeded.duration.bucketCount + figures[0].failed.duration.bucketCount
        return buckets * MemoryLayout<UInt64>.stride
    }

    /// Makes the sketches coarser, including those of requests added later.
    package mutating func lowerScale(to scale: Int32) {
        guard scale < ExponentialHistogram.defaultScale || !figures.isEmpty else { return }
        makeFigures()
        figures[0].succeeded.duration.lowerScale(to: scale)
        figures[0].failed.duration.lowerScale(to: scale)
    }

    /// Adds the requests of another group.
    package mutating func merge(_ other: RequestGroup) {
        guard !other.figures.isEmpty else { return }
        makeFigures()
        figures[0].succeeded.merge(other.figures[0].succeeded)
        figures[0].failed.merge(other.figures[0].failed)
        figures[0].outcomes.merge(other.figures[0].outcomes)
        figures[0].fromSpans &+= other.figures[0].fromSpans
        figures[0].changed &+= other.figures[0].changed
        figures[0].latestEnd = max(figures[0].latestEnd, other.figures[0].latestEnd)
        figures[0].earliestEnd = min(figures[0].earliestEnd, other.figures[0].earliestEnd)
    }

    private mutating func makeFigures() {
        if figures.isEmpty { figures.append(Figures()) }
    }
}

/// The properties of a request that decide how it is counted.
package struct RequestClass: Sendable, Hashable {
    package let system: SystemNumber
    package let kind: RequestKind
    package let outcome: RequestOutcome
    package let isFailure: Bool
    /// Whether only spans reported the requests.
    package let comesFromSpans: Bool
    /// Whether only spans reported the requests, and they are calls that failed without an answer: see ``MetricsCover``.
    package let isUnansweredSpan: Bool
    /// Whether a rule of their agent changed the requests.
    package let isChanged: Bool

    package init(
        kind: RequestKind, system: SystemNumber = SystemNumber(nil), outcome: RequestOutcome, comesFromSpans: Bool,
        isUnansweredSpan: Bool = false, isChanged: Bool
    ) {
        self.system = system
        (self.kind, self.outcome, self.comesFromSpans, self.isChanged) = (kind, outcome, comesFromSpans, isChanged)
        self.isUnansweredSpan = isUnansweredSpan
        isFailure = outcome.isFailure(for: kind)
    }

    package init(_ dimensions: RequestDimensions) {
        let outcome = dimensions.outcome
        self.init(
            kind: dimensions.kind, system: SystemNumber(dimensions.system), outcome: outcome,
            comesFromSpans: dimensions.source == .spans,
            isUnansweredSpan: dimensions.source == .spans && dimensions.isUnansweredCall
                && outcome.isFailure(for: dimensions.kind),
            isChanged: dimensions.rule != nil)
    }
}

/// The number of requests for each outcome. A plain value of fixed size.
package struct OutcomeCounts: Sendable, Equatable {
    private var counts = SIMD8<UInt64>()

    package init() {}

    package subscript(outcome: RequestOutcome) -> UInt64 {
        get { counts[outcome.lane] }
        set { counts[outcome.lane] = newValue }
    }

    package mutating func merge(_ other: OutcomeCounts) {
        counts &+= other.counts
    }
}

extension RequestOutcome {
    /// The index of the outcome in a vector.
    fileprivate var lane: Int {
        switch self {
        case .success: 0
        case .transportFailure: 1
        case .clientError: 2
        case .serverError: 3
        case .hung: 4
        case .cancelled: 5
        }
    }
}
