import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf

/// Decodes the metrics of one resource into points. It ignores metrics that Martlet does not know, because senders may send
/// everything they have.
struct MetricsDecoding {
    let limits: IntakeLimits
    private(set) var refusals: Refusals
    private let known: KnownAttributes
    private var points: [RequestPoint] = []
    private var arrived = ArrivedPoints()
    private var isMartlet = false
    private var indexes: [PointKey: Int] = [:]
    private var cumulative: [CumulativePoint] = []
    private var ledger: LedgerReading?
    private var unwatched: OTLPSum?
    private var agentCPU: OTLPSum?
    private var process: ProcessDecoding
    private var ends: ProcessEndDecoding
    private var hasService = false
    private var version: String?

    init(limits: IntakeLimits, known: KnownAttributes, refusals: Refusals) {
        self.limits = limits
        self.known = known
        self.refusals = refusals
        process = ProcessDecoding(limits.times)
        ends = ProcessEndDecoding(limits)
    }

    /// Returns the metrics; `nil` if Martlet needs none of them.
    ///
    /// - Parameter reserve: called with the number of bytes that the sketches take.
    /// - Throws: ``ProtobufReader/UncommonForm``, and the errors of `reserve`.
    mutating func decode(
        _ part: EncodedResourceMetrics, reserve: MemoryReservation
    ) throws -> InstanceMetrics? {
        let resource = part.resource
        defer { refusals.assign(to: resource, limits) }
        guard resource.fits(limits) else {
            for metric in part.metrics { try refuse(metric, "an attribute of the resource is too long") }
            return nil
        }
        // A collector of host metrics sends all of the host's processes, few of which are services.
        isMartlet = resource.isMartlet
        (hasService, version) = (resource.service != TelemetryResource.unknownService, resource.version)
        // Some instruments report the old and the new names in two scopes, which differ only in their schema.
        let names = part.scopes.reduce(into: [:]) {
            $0[StreamID($1.scope), default: Set()].formUnion($1.metrics.map(\.name))
        }
        for scope in part.scopes { try take(scope, names[StreamID(scope.scope)] ?? [], reserve) }
        // Phases come last, because they are added to the points of durations.
        for metric in part.metrics where metric.name == MetricName.clientPhaseDuration { try takePhases(metric) }
        if let unwatched { ledger?.note(\.unwatched, unwatched) }
        if let agentCPU { ledger?.note(\.agentCPU, agentCPU) }
        guard !points.isEmpty || !cumulative.isEmpty || ledger != nil || !process.isEmpty || !ends.ends.isEmpty else {
            return nil
        }
        var metrics = InstanceMetrics(
            resource: resource, points: points, cumulative: cumulative, ledger: ledger, process: process.points,
            processTotals: process.totals)
        (metrics.arrived, metrics.ends) = (arrived, ends.ends)
        return metrics
    }

    /// - Parameter names: the names of all metrics of the same instrumentation scope.
    private mutating func take(
        _ part: EncodedScopeMetrics, _ names: Set<String>, _ reserve: MemoryReservation
    ) throws {
        let scope = StreamID(part.scope)
        for metric in part.metrics {
            let stable = MetricName.stable(of: metric.name)
            if stable != metric.name, names.contains(stable) {
                // An instrument configured to send old and new names sends each request under both.
                refusals.ignore(try metric.message().pointCount)
            } else if let durations = DurationMetric(metric) {
                try takeDurations(metric, durations, scope, reserve)
            } else if let sizes = SizeMetric(name: stable) {
                try takeSizes(metric, sizes, scope)
            } else if metric.name == MetricName.ledger {
                takeLedger(try metric.message().sum)
            } else if metric.name == MetricName.captureGap {
                unwatched = try metric.message().sum
            } else if metric.name == MetricName.agentCPU {
                agentCPU = try metric.message().sum
            } else if hasService, let figures = ProcessMetric(named: metric.name) {
                process.take(try metric.message(), as: figures, &refusals)
            } else if hasService, metric.name == MetricName.processEnd {
                ends.take(try metric.message(), version: version, &refusals)
            } else if metric.name != MetricName.clientPhaseDuration {
                refusals.ignore(try metric.message().pointCount)
            }
        }
    }

    private mutating func takeLedger(_ sum: OTLPSum) {
        guard let reading = LedgerReading(sum) else { return }
        do throws(PointRefusal) {
            try limits.times.check(reading.time, reading.time)
            ledger = reading
        } catch {
            refusals.add(error.reason, count: sum.dataPoints.count)
        }
    }

    private mutating func refuse(_ metric: EncodedMetric, _ reason: String) throws(ProtobufReader.UncommonForm) {
        let message = try metric.message()
        let isOfRequests = DurationMetric(metric) != nil
        refusals.add(reason, count: message.pointCount, requests: isOfRequests ? message.valueCount : 0)
    }

    private mutating func takeDurations(
        _ metric: EncodedMetric, _ durations: DurationMetric, _ scope: StreamID, _ reserve: MemoryReservation
    ) throws {
        guard let unit = durations.secondsPerUnit else {
            return try refuse(metric, "the unit of the durations is unknown; use s, ms, us or ns")
        }
        guard let histogram = metric.histogram else {
            return try refuse(metric, "durations must be sent as histograms")
        }
        let stream = scope.adding(metric: metric.name)
        makeRoom(for: histogram.pointCount)
        var rest = HistogramPoints(histogram, of: durations.requests, known)
        while let point = try rest.next() {
            do throws(PointRefusal) {
                let values = try point.durations(unit: unit, limits)
                guard refusals.hasRoom(for: values.sketch, limits) else {
                    throw PointRefusal(reason: "the request has too many buckets; send fewer histograms at a time")
                }
                try add(.duration(values.sketch), of: point, stream, unit: values.unit)
            } catch {
                refusals.add(error.reason, requests: point.temporality == .delta ? point.count : 0)
            }
            try refusals.reserveSketches(reserve)
        }
    }

    /// Reserves room for points of durations. Most senders send durations first, so most of the points are new. The capacity at
    /// least doubles, because growing moves the existing points.
    private mutating func makeRoom(for count: Int) {
        let wanted = points.count + count
        guard wanted > points.capacity else { return }
        points.reserveCapacity(max(wanted, 2 * points.capacity))
        indexes.reserveCapacity(points.capacity)
    }

    private mutating func takeSizes(
        _ metric: EncodedMetric, _ sizes: SizeMetric, _ scope: StreamID
    ) throws(ProtobufReader.UncommonForm) {
        // Before the stable names, some instruments counted bytes as sums.
        guard let histogram = metric.histogram else { return refusals.ignore(try metric.message().pointCount) }
        let stream = scope.adding(metric: metric.name)
        var rest = HistogramPoints(histogram, of: MeasuredRequests(kind: sizes.kind), known)
        while let point = try rest.next() {
            do throws(PointRefusal) {
                guard let bytes = point.bytes else {
                    throw PointRefusal(reason: "the sum of sizes is missing or not a number of bytes")
                }
                try add(sizes.measure(bytes), of: point, stream)
            } catch {
                refusals.add(error.reason)
            }
        }
    }

    /// Adds a delta point to the point with the same series and interval, or appends a cumulative point. Sizes may come without
    /// durations, if another point of the series has the durations.
    private mutating func add(
        _ measure: PointMeasure, of point: HistogramPoint, _ stream: StreamID, unit: Double = 1
    ) throws(PointRefusal) {
        let key = try PointKey(point, limits)
        switch point.temporality {
        case .delta:
            let index = index(of: key)
            if !isMartlet {
                let before = arrived.buckets
                arrived.add(
                    point.identity(in: stream), RequestStatistics(delta: measure), to: index,
                    sum: points[index].statistics)
                refusals.addSketches(ofBuckets: arrived.buckets - before)
            }
            // Two sketches with values far apart merge into one with many buckets.
            let before = points[index].statistics.duration.buckets.count
            points[index].statistics.add(measure)
            refusals.addSketches(ofBuckets: points[index].statistics.duration.buckets.count - before)
        case .cumulative:
            let statistics = RequestStatistics(measure)
            refusals.addSketches(ofBuckets: statistics.duration.buckets.count)
            cumulative.append(
                CumulativePoint(
                    stream: stream.adding(point.attributes.decoded),
                    point: RequestPoint(
                        series: key.series, start: key.start, end: key.end, statistics: statistics),
                    unit: unit))
        case .unspecified, .UNRECOGNIZED:
            throw PointRefusal(reason: "the histogram is neither delta nor cumulative")
        }
    }

    /// Returns the index of the key's point. Creates the point if it is missing.
    private mutating func index(of key: PointKey) -> Int {
        let next = points.count
        let index = Self.take(&indexes[key, default: next])
        guard index == next else { return index }
        points.append(
            RequestPoint(series: key.series, start: key.start, end: key.end, statistics: RequestStatistics()))
        return index
    }

    /// Returns the index. Because it takes the index `inout`, a single look-up finds the index or adds it.
    private static func take(_ index: inout Int) -> Int { index }

    private mutating func takePhases(_ metric: EncodedMetric) throws(ProtobufReader.UncommonForm) {
        guard let histogram = metric.histogram else { return _ = try metric.message() }
        var rest = HistogramPoints(histogram, of: MeasuredRequests(kind: .client), known)
        while let point = try rest.next() {
            do throws(PointRefusal) {
                try takePhase(point)
            } catch {
                refusals.add(error.reason)
            }
        }
    }

    private mutating func takePhase(_ point: HistogramPoint) throws(PointRefusal) {
        // Differences of cumulative points have no phases, so cumulative phases are ignored. The requests still count.
        if point.temporality == .cumulative { return refusals.ignore(1) }
        guard let phase = point.attributes.phase else {
            throw PointRefusal(reason: "the phase is unknown")
        }
        let key = try PointKey(point, limits)
        guard let index = indexes[key], case let requests = points[index].statistics.requests, requests > 0 else {
            throw PointRefusal(reason: "the phase has no duration with the same attributes and interval")
        }
        var totals = points[index].statistics.phases
        guard point.temporality == .delta, let seconds = point.seconds() else {
            throw PointRefusal(reason: "the phase is not delta, or its sum is missing or impossible")
        }
        guard point.count <= requests &- totals[phase].count else {
            throw PointRefusal(reason: "the phase has more requests than the duration")
        }
        totals[phase].count += point.count
        totals[phase].seconds += seconds
        points[index].statistics.phases = totals
    }
}

extension LedgerReading {
    /// The reason for losses without a reason, and for losses whose reasons are too many to keep.
    static let otherReason = "other"

    /// The ledger in `martlet.agent.requests`; `nil` if the metric has no point or no valid time. States that only a newer
    /// agent knows are skipped. Their reasons are kept, so that captured = delivered + waiting + dropped holds as in the agent.
    init?(_ sum: OTLPSum) {
        guard let time = sum.dataPoints.map(\.timeUnixNano).max(), time <= UInt64(Int64.max) else { return nil }
        let start = sum.dataPoints.map(\.startTimeUnixNano).max() ?? 0
        self.init(time: time, age: start > 0 ? time - min(start, time) : 0)
        for point in sum.dataPoints where point.timeUnixNano == time {
            let requests = UInt64(clamping: point.asInt)
            switch point.attributes.text(AttributeName.ledgerState) {
            case LedgerState.captured?: captured = requests
            case LedgerState.delivered?: delivered = requests
            case LedgerState.waiting?: waiting = requests
            case LedgerState.dropped?: drop(requests, point.attributes.text(AttributeName.ledgerReason))
            default: break
            }
        }
    }

    /// Sets a time since the instance's start from one of the agent's own metrics, which is in seconds.
    mutating func note(_ time: WritableKeyPath<Self, UInt64>, _ sum: OTLPSum) {
        let seconds = sum.dataPoints.map(\.asDouble).max() ?? 0
        guard seconds > 0 else { return }
        self[keyPath: time] = UInt64(min(seconds * 1e9, Double(Int64.max / 2)))
    }

    private mutating func drop(_ requests: UInt64, _ reason: String?) {
        let name = reason?.cut(toBytes: IntakeLimits.dropReasonBytes) ?? Self.otherReason
        let isKept = dropped[name] != nil || dropped.count < IntakeLimits.maxDropReasons
        dropped[isKept ? name : Self.otherReason, default: 0] &+= requests
    }
}

extension StreamID {
    /// The beginning that all streams of a scope share, so that a scope is hashed once and not for each point.
    ///
    /// - Parameter scope: its attributes may be in any order.
    init(_ scope: OTLPInstrumentationScope) {
        self.init(hashing: [scope.name, scope.version].map { Array($0.utf8) })
        guard !scope.attributes.isEmpty else { return }
        // The attributes are one part, so that none of them can be mistaken for an attribute of a point.
        self = adding([StreamID(hashing: Self.sorted(scope.attributes)).bytes])
    }

    /// Returns the beginning of the streams of one of the scope's metrics.
    func adding(metric: String) -> StreamID { adding([Array(metric.utf8)]) }

    /// Returns the stream of a point.
    ///
    /// - Parameter attributes: the point's attributes, in any order.
    func adding(_ attributes: [OTLPKeyValue]) -> StreamID { adding(Self.sorted(attributes)) }

    private static func sorted(_ attributes: [OTLPKeyValue]) -> [[UInt8]] {
        attributes.sorted { $0.key < $1.key }.map(bytes)
    }

    /// Returns the same bytes for the same attribute: no part of it is a map, whose order could differ.
    private static func bytes(of attribute: OTLPKeyValue) -> [UInt8] {
        (try? attribute.serializedBytes()) ?? Array(attribute.key.utf8)
    }
}
