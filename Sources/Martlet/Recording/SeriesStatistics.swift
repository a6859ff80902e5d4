import MartletTelemetry

/// The statistics of each series in one interval. A plain value.
struct SeriesStatistics: Sendable {
    private let namer: EndpointNamer
    private var budget: EndpointBudget
    private var interval: RecordedInterval
    /// By what their records in the journal have in common: most requests are like one before.
    private var known: [[UInt8]: RequestDimensions] = [:]

    init(_ configuration: MartletConfiguration, start: UnixNanoseconds) {
        namer = EndpointNamer(templates: configuration.endpoints)
        budget = EndpointBudget(limit: configuration.maxEndpoints)
        interval = RecordedInterval(start: start)
    }

    var isEmpty: Bool { interval.series.isEmpty }

    /// Roughly its memory.
    var estimatedBytes: Int { interval.series.values.reduce(0) { $0 + $1.estimatedBytes } }

    mutating func count(_ request: CapturedRequest) {
        interval.series[dimensions(of: request), default: RequestStatistics()].record(
            seconds: Double(request.durationNanoseconds) / 1e9, bytesSent: request.bytesSent,
            bytesReceived: request.bytesReceived, phases: request.phases)
    }

    /// A record of the journal.
    mutating func count(_ record: UnsafeRawBufferPointer) {
        guard let dimensions = dimensions(of: record) else { return }
        let figures = JournalRecord.figures(record)
        interval.series[dimensions, default: RequestStatistics()].record(
            seconds: Double(figures.duration) / 1e9, bytesSent: figures.bytesSent,
            bytesReceived: figures.bytesReceived, phases: figures.phases)
        let (ended, isBeyond) = figures.start.addingReportingOverflow(figures.duration)
        if !isBeyond { interval.end = max(interval.end, ended) }
    }

    mutating func dimensions(of request: CapturedRequest) -> RequestDimensions {
        name(
            JournalRecord.Identity(
                kind: request.kind, method: request.method, target: request.destination.target, route: request.route,
                status: request.status, error: request.error))
    }

    private mutating func dimensions(of record: UnsafeRawBufferPointer) -> RequestDimensions? {
        let identity = [UInt8](record[JournalRecord.Field.port...])
        if let dimensions = known[identity] { return dimensions }
        guard let dimensions = JournalRecord.read(record).map({ name($0) }) else { return nil }
        if known.count >= MartletLimits.knownSeries { known.removeAll(keepingCapacity: true) }
        known[identity] = dimensions
        return dimensions
    }

    /// Where the interval does not have the series yet, the budget decides.
    private mutating func name(_ identity: JournalRecord.Identity) -> RequestDimensions {
        let target = identity.target
        let dimensions = RequestDimensions(
            kind: identity.kind, method: identity.method, host: target.host, port: target.port,
            endpoint: identity.route ?? namer.endpoint(ofPath: target.path), status: identity.status,
            error: identity.error)
        return interval.series.index(forKey: dimensions) == nil ? budget.admit(dimensions) : dimensions
    }

    /// - Parameter now: when the interval ends; `nil` for when its last request did.
    mutating func take(at now: UnixNanoseconds?) -> RecordedInterval {
        let end = now ?? max(interval.end, interval.start &+ 1)
        // A clock set back must not make an interval that ends before it starts, nor one in the future.
        interval.start = min(interval.start, end &- 1)
        interval.end = end
        defer { interval = RecordedInterval(start: end) }
        return interval
    }
}
