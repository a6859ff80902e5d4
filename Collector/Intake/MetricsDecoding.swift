import MartletOTLP
import MartletTelemetry

/// The metrics of one resource as points. Metrics that Martlet does not know are ignored: they are no mistake of the sender,
/// who sends what it has.
struct MetricsDecoding {
    let limits: IntakeLimits
    private(set) var refusals: Refusals
    private var statistics: [PointKey: RequestStatistics] = [:]
    private var cumulative: [CumulativePoint] = []
    private var ledger: LedgerReading?

    init(limits: IntakeLimits, refusals: Refusals) {
        self.limits = limits
        self.refusals = refusals
    }

    /// `nil` when nothing in it is for Martlet.
    ///
    /// - Parameter reserve: told how many bytes the sketches take.
    mutating func decode(
        _ part: OTLPResourceMetrics, reserve: Intake.Reservation
    ) throws(IntakeRejection) -> InstanceMetrics? {
        let resource = TelemetryResource(part.resource)
        guard resource.fits(limits) else {
            for metric in part.scopeMetrics.flatMap(\.metrics) {
                refuse(metric, "an attribute of the resource is too long")
            }
            return nil
        }
        for scope in part.scopeMetrics { try take(scope, reserve) }
        // Last: phases are added to the points that durations make.
        for metric in part.scopeMetrics.flatMap(\.metrics) where metric.name == MetricName.clientPhaseDuration {
            takePhases(metric)
        }
        guard !statistics.isEmpty || !cumulative.isEmpty || ledger != nil else { return nil }
        let points = statistics.map { key, statistics in
            RequestPoint(dimensions: key.dimensions, start: key.start, end: key.end, statistics: statistics)
        }
        return InstanceMetrics(resource: resource, points: points, cumulative: cumulative, ledger: ledger)
    }

    private mutating func take(
        _ part: OTLPScopeMetrics, _ reserve: Intake.Reservation
    ) throws(IntakeRejection) {
        let names = Set(part.metrics.map(\.name))
        for metric in part.metrics {
            let stable = MetricName.stable(of: metric.name)
            if stable != metric.name, names.contains(stable) {
                // An instrument that is told to send old and new names sends each request under both.
                refusals.ignore(metric.pointCount)
            } else if let durations = DurationMetric(metric) {
                try takeDurations(metric, durations, part.scope, reserve)
            } else if let sizes = SizeMetric(name: stable) {
                takeSizes(metric, sizes, part.scope)
            } else if metric.name == MetricName.ledger {
                ledger = LedgerReading(metric.sum) ?? ledger
            } else if metric.name != MetricName.clientPhaseDuration {
                refusals.ignore(metric.pointCount)
            }
        }
    }

    private mutating func refuse(_ metric: OTLPMetric, _ reason: String) {
        let isOfRequests = DurationMetric(metric) != nil
        refusals.add(reason, count: metric.pointCount, requests: isOfRequests ? metric.valueCount : 0)
    }

    private mutating func takeDurations(
        _ metric: OTLPMetric, _ durations: DurationMetric, _ scope: OTLPInstrumentationScope,
        _ reserve: Intake.Reservation
    ) throws(IntakeRejection) {
        guard let unit = durations.secondsPerUnit else {
            return refuse(metric, "durations in a unit that is not known")
        }
        guard metric.isHistogram else { return refuse(metric, "durations are taken as histograms only") }
        let stream = Stream(kind: durations.kind, metric: metric.name, scope: scope)
        for point in HistogramPoint.all(in: metric) {
            do throws(PointRefusal) {
                let values = try point.durations(unit: unit, limits)
                guard refusals.hasRoom(for: values.sketch, limits) else {
                    throw PointRefusal(reason: "more buckets in one request than are taken")
                }
                try add(RequestStatistics(duration: values.sketch), of: point, stream, unit: values.unit)
            } catch {
                refusals.add(error.reason, requests: point.temporality == .delta ? point.count : 0)
            }
            try refusals.reserveSketches(reserve)
        }
    }

    private mutating func takeSizes(
        _ metric: OTLPMetric, _ sizes: SizeMetric, _ scope: OTLPInstrumentationScope
    ) {
        guard metric.isHistogram else { return refuse(metric, "sizes are taken as histograms only") }
        let stream = Stream(kind: sizes.kind, metric: metric.name, scope: scope)
        for point in HistogramPoint.all(in: metric) {
            do throws(PointRefusal) {
                guard let bytes = point.bytes else {
                    throw PointRefusal(reason: "a size whose sum is no number of bytes")
                }
                var statistics = RequestStatistics()
                statistics[keyPath: sizes.bytes] = bytes
                try add(statistics, of: point, stream)
            } catch {
                refusals.add(error.reason)
            }
        }
    }

    private struct Stream {
        var kind: RequestKind
        var metric: String
        var scope: OTLPInstrumentationScope
    }

    /// Sizes need no durations beside them: another point of their series does as well.
    private mutating func add(
        _ statistics: RequestStatistics, of point: HistogramPoint, _ stream: Stream, unit: Double = 1
    ) throws(PointRefusal) {
        let key = try PointKey(stream.kind, point.attributes, point.intervalStart, point.end, limits)
        switch point.temporality {
        case .delta:
            var delta = statistics
            delta.duration = delta.duration.distributed
            // Two that lie far apart make one with many buckets.
            let before = self.statistics[key]?.duration.buckets.count ?? 0
            self.statistics[key, default: RequestStatistics()].merge(delta)
            refusals.addSketches(ofBuckets: (self.statistics[key]?.duration.buckets.count ?? 0) - before)
        case .cumulative:
            refusals.addSketches(ofBuckets: statistics.duration.buckets.count)
            cumulative.append(
                CumulativePoint(
                    stream: StreamID(stream.scope, stream.metric, point.attributes),
                    point: RequestPoint(
                        dimensions: key.dimensions, start: key.start, end: key.end, statistics: statistics),
                    unit: unit))
        case .unspecified, .UNRECOGNIZED:
            throw PointRefusal(reason: "a histogram that does not say whether it is delta or cumulative")
        }
    }

    private mutating func takePhases(_ metric: OTLPMetric) {
        for point in HistogramPoint.all(in: metric) {
            do throws(PointRefusal) {
                try takePhase(point)
            } catch {
                refusals.add(error.reason)
            }
        }
    }

    private mutating func takePhase(_ point: HistogramPoint) throws(PointRefusal) {
        guard let phase = point.attributes.text(AttributeName.phase).flatMap(RequestPhase.init) else {
            throw PointRefusal(reason: "a phase that is not known")
        }
        let key = try PointKey(.client, point.attributes, point.intervalStart, point.end, limits)
        guard var totals = statistics[key]?.phases, let requests = statistics[key]?.duration.count, requests > 0 else {
            throw PointRefusal(reason: "a phase without a duration of the same attributes and interval")
        }
        guard point.temporality == .delta, let seconds = point.seconds() else {
            throw PointRefusal(reason: "a phase that is no delta, or whose sum is no length of time")
        }
        guard point.count <= requests &- totals[phase].count else {
            throw PointRefusal(reason: "a phase of more requests than there were")
        }
        totals[phase].count += point.count
        totals[phase].seconds += seconds
        statistics[key]?.phases = totals
    }
}

extension OTLPMetric {
    fileprivate var isHistogram: Bool {
        switch data {
        case .histogram, .exponentialHistogram: true
        default: false
        }
    }
}
