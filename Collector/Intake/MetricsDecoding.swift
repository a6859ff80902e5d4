import MartletOTLP
import MartletTelemetry

/// The metrics of one resource as points. Metrics that Martlet does not know are passed over: they are no mistake of the
/// sender, who sends what it has.
struct MetricsDecoding {
    let limits: IntakeLimits
    private(set) var refusals: Refusals
    private var statistics: [PointKey: RequestStatistics] = [:]
    private var ledger: LedgerReading?

    init(limits: IntakeLimits, refusals: Refusals) {
        self.limits = limits
        self.refusals = refusals
    }

    /// `nil` when nothing in it is for Martlet.
    mutating func decode(_ part: OTLPResourceMetrics) -> InstanceMetrics? {
        let resource = TelemetryResource(part.resource)
        let metrics = part.scopeMetrics.flatMap(\.metrics)
        guard resource.fits(limits) else {
            for metric in metrics { refuse(metric, "an attribute of the resource is too long") }
            return nil
        }
        // Durations first: sizes and phases are added to the points that durations make.
        for metric in metrics { takeDurations(metric) }
        for metric in metrics { takeSizes(metric) }
        for metric in metrics where metric.name == MetricName.clientPhaseDuration { takePhases(metric) }
        for metric in metrics where metric.name == MetricName.ledger { ledger = LedgerReading(metric.sum) ?? ledger }
        guard !statistics.isEmpty || ledger != nil else { return nil }
        let points = statistics.map { key, statistics in
            RequestPoint(dimensions: key.dimensions, start: key.start, end: key.end, statistics: statistics)
        }
        return InstanceMetrics(resource: resource, points: points, ledger: ledger)
    }

    private mutating func refuse(_ metric: OTLPMetric, _ reason: String) {
        let isOfRequests = RequestKind(durationMetric: metric.name) != nil
        refusals.add(reason, count: metric.pointCount, requests: isOfRequests ? metric.valueCount : 0)
    }

    private mutating func takeDurations(_ metric: OTLPMetric) {
        guard let kind = RequestKind(durationMetric: metric.name) else { return }
        guard case .exponentialHistogram(let histogram)? = metric.data else {
            return refuse(metric, "durations are taken as exponential histograms only")
        }
        guard histogram.aggregationTemporality == .delta else {
            return refuse(metric, "durations of cumulative temporality are not taken yet")
        }
        for point in histogram.dataPoints where point.count > 0 {
            do throws(PointRefusal) {
                let duration = try DurationPoint.decode(point, limits: limits)
                let key = try PointKey(kind, point.attributes, point.startTimeUnixNano, point.timeUnixNano, limits)
                statistics[key, default: RequestStatistics()].merge(RequestStatistics(duration: duration))
            } catch {
                refusals.add(error.reason, requests: point.count)
            }
        }
    }

    private mutating func takeSizes(_ metric: OTLPMetric) {
        guard let size = SizeMetric(name: metric.name) else { return }
        for point in SumPoint.all(in: metric) where point.count > 0 {
            do throws(PointRefusal) {
                let key = try PointKey(size.kind, point.attributes, point.start, point.end, limits)
                guard statistics[key] != nil else {
                    throw PointRefusal(reason: "a size without a duration of the same attributes and interval")
                }
                guard point.isDelta, let bytes = point.bytes else {
                    throw PointRefusal(reason: "a size that is no delta, or whose sum is no number of bytes")
                }
                statistics[key]?[keyPath: size.bytes] &+= bytes
            } catch {
                refusals.add(error.reason)
            }
        }
    }

    private mutating func takePhases(_ metric: OTLPMetric) {
        for point in SumPoint.all(in: metric) where point.count > 0 {
            do throws(PointRefusal) {
                try takePhase(point)
            } catch {
                refusals.add(error.reason)
            }
        }
    }

    private mutating func takePhase(_ point: SumPoint) throws(PointRefusal) {
        guard let phase = point.attributes.text(AttributeName.phase).flatMap(RequestPhase.init) else {
            throw PointRefusal(reason: "a phase that is not known")
        }
        let key = try PointKey(.client, point.attributes, point.start, point.end, limits)
        guard var totals = statistics[key]?.phases, let requests = statistics[key]?.duration.count else {
            throw PointRefusal(reason: "a phase without a duration of the same attributes and interval")
        }
        guard point.isDelta, let seconds = point.seconds else {
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

extension RequestKind {
    fileprivate init?(durationMetric name: String) {
        switch name {
        case MetricName.clientDuration: self = .client
        case MetricName.serverDuration: self = .server
        default: return nil
        }
    }
}
