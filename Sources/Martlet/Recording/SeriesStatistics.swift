import MartletTelemetry

/// The statistics of each series in one interval. A plain value.
struct SeriesStatistics: Sendable {
    private let namer: EndpointNamer
    private var endpoints: EndpointBudgets
    private var places: VaryingPlaces
    private var errorTypes = ErrorTypeBudget()
    private var start: UnixNanoseconds
    /// The latest end among the interval's requests from the journal; 0 if there were none.
    private var lastEnd: UnixNanoseconds = 0
    private var series: [Series] = []
    private var indices: [RequestDimensions: Int] = [:]
    /// The index of a series by the bytes that its records share. Most requests resemble an earlier one.
    private var indicesByRecord: [RecordIdentity: Int] = [:]

    private struct Series {
        let dimensions: RequestDimensions
        var statistics = RequestStatistics()
        var sizes = BodySizes()
    }

    /// The bytes that a series' records share. They are compared exactly, but hashed only by the checksum of their
    /// texts.
    private struct RecordIdentity: Hashable {
        let bytes: [UInt8]
        let checksum: UInt32

        init(_ record: UnsafeRawBufferPointer) {
            bytes = [UInt8](record[JournalRecord.Field.port...])
            checksum = JournalChecksum.checksum(
                of: UnsafeRawBufferPointer(rebasing: record[JournalRecord.Field.hostLength...]), seed: 0)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(checksum) }
    }

    init(_ configuration: MartletConfiguration, start: UnixNanoseconds) {
        namer = EndpointNamer(templates: configuration.endpoints)
        endpoints = EndpointBudgets(limit: configuration.maxEndpoints)
        places = VaryingPlaces(limit: configuration.maxEndpoints)
        self.start = start
    }

    var isEmpty: Bool { series.isEmpty }

    /// An estimate of the memory for the statistics, in bytes.
    var estimatedBytes: Int { series.reduce(0) { $0 + $1.statistics.estimatedBytes + $1.sizes.estimatedBytes } }

    mutating func count(_ request: CapturedRequest) {
        let index = index(of: dimensions(of: request))
        series[index].statistics.record(
            seconds: Double(request.durationNanoseconds) / 1e9, bytesSent: request.bytesSent,
            bytesReceived: request.bytesReceived, phases: request.phases)
        series[index].sizes.record(sent: request.bytesSent, received: request.bytesReceived)
    }

    /// Counts a record of the journal. Returns `false` for a record that cannot be read, which is not counted.
    @discardableResult
    mutating func count(_ record: UnsafeRawBufferPointer) -> Bool {
        guard let index = index(of: record) else { return false }
        let figures = JournalRecord.figures(record)
        series[index].statistics.record(
            seconds: Double(figures.duration) / 1e9, bytesSent: figures.bytesSent,
            bytesReceived: figures.bytesReceived, phases: figures.phases)
        series[index].sizes.record(sent: figures.bytesSent, received: figures.bytesReceived)
        let (end, isBeyond) = figures.start.addingReportingOverflow(figures.duration)
        if !isBeyond { lastEnd = max(lastEnd, end) }
        return true
    }

    mutating func dimensions(of request: CapturedRequest) -> RequestDimensions {
        name(
            JournalRecord.Identity(
                kind: request.kind, method: request.method, target: request.destination.target, route: request.route,
                status: request.status, error: request.error, rule: request.rule, system: request.system,
                isSecure: request.isSecure, httpVersion: request.httpVersion))
    }

    private mutating func index(of record: UnsafeRawBufferPointer) -> Int? {
        let identity = RecordIdentity(record)
        if let index = indicesByRecord[identity] { return index }
        guard let read = JournalRecord.read(record) else { return nil }
        let index = index(of: name(read))
        if indicesByRecord.count >= MartletLimits.knownSeries { indicesByRecord.removeAll(keepingCapacity: true) }
        indicesByRecord[identity] = index
        return index
    }

    private mutating func index(of dimensions: RequestDimensions) -> Int {
        if let index = indices[dimensions] { return index }
        indices[dimensions] = series.count
        series.append(Series(dimensions: dimensions))
        return series.count - 1
    }

    /// Returns the dimensions of a request. The budgets are applied if its series is new in the interval.
    private mutating func name(_ identity: JournalRecord.Identity) -> RequestDimensions {
        let target = identity.target
        var dimensions = RequestDimensions(
            kind: identity.kind, method: identity.method, host: target.host, port: target.port,
            endpoint: identity.route ?? endpoint(identity.kind, target), status: identity.status,
            error: identity.error)
        dimensions.rule = identity.rule
        if let system = identity.system {
            (dimensions.system, dimensions.conventions) = (system.name, system.conventions)
        }
        dimensions.isRoute = identity.kind == .client || identity.route != nil
        (dimensions.isSecure, dimensions.httpVersion) = (identity.isSecure, identity.httpVersion)
        guard indices[dimensions] == nil else { return dimensions }
        return errorTypes.admit(endpoints.admit(dimensions, at: start), at: start)
    }

    /// Names a request whose instrument names no endpoint.
    private mutating func endpoint(_ kind: RequestKind, _ target: RequestTarget) -> String {
        guard kind == .client else { return namer.endpoint(ofUnroutedPath: target.path) }
        return namer.endpoint(ofPath: target.path) { segment, prefix in
            let judgement = places.judge(segment, after: prefix, of: target, at: start)
            if judgement == .firstValue { endpoints.release(String(decoding: prefix, as: UTF8.self), of: target) }
            return judgement != .name
        }
    }

    /// Returns the statistics of the interval and begins the next one.
    ///
    /// - Parameter now: the end of the interval; `nil` for the end of its last request.
    mutating func take(at now: UnixNanoseconds?) -> RecordedInterval {
        let end = now ?? max(lastEnd, start &+ 1)
        // If the clock was set back, the interval must not end before it starts or lie in the future.
        let interval = RecordedInterval(
            start: min(start, end &- 1), end: end,
            series: Dictionary(series.map { ($0.dimensions, $0.statistics) }) { first, _ in first },
            sizes: Dictionary(series.map { ($0.dimensions, $0.sizes) }) { first, _ in first })
        (start, lastEnd) = (end, 0)
        series.removeAll(keepingCapacity: true)
        indices.removeAll(keepingCapacity: true)
        indicesByRecord.removeAll(keepingCapacity: true)
        endpoints.forgetUnused(at: end)
        errorTypes.forgetUnused(at: end)
        places.forgetUnused(at: end)
        return interval
    }
}

/// The statistics and details between two drains.
struct RecordedInterval: Sendable {
    var start: UnixNanoseconds
    var end: UnixNanoseconds = 0
    var series: [RequestDimensions: RequestStatistics] = [:]
    var sizes: [RequestDimensions: BodySizes] = [:]
    var details: [SpanRecord] = []
    /// The nanoseconds without capture, from the recorder's start to the end of the interval.
    var captureGap: UInt64 = 0
}
