import MartletTelemetry

/// A metric of a process: one of the OpenTelemetry semantic conventions ("OS process metrics", since version 1.39), or one of
/// Martlet's delays. The raw value is the metric's name.
package enum ProcessMetric: String, Sendable, CaseIterable {
    case cpuTime = "process.cpu.time"
    case memory = "process.memory.usage"
    case virtualMemory = "process.memory.virtual"
    case descriptors = "process.unix.file_descriptor.count"
    case threads = "process.thread.count"
    case uptime = "process.uptime"
    case pagingFaults = "process.paging.faults"
    case contextSwitches = "process.context_switches"
    /// The time that a job waits for a thread of Swift's cooperative pool.
    case poolDelay = "martlet.process.pool.delay"
    /// The time that a block waits on the main queue.
    case mainQueueDelay = "martlet.process.main_queue.delay"

    /// The meaning of a metric's points.
    package enum Kind: Sendable {
        /// A sum that only grows, divided into parts by the value of an attribute.
        case counter([String: ProcessCounter])
        /// A value at one moment.
        case level(ProcessGauge)
        /// The count, the sum and the largest of several values.
        case delay(ProcessGauge)
    }

    /// The metric of a name, current or from earlier conventions.
    package init?(named name: String) {
        self.init(rawValue: name == "process.open_file_descriptor.count" ? Self.descriptors.rawValue : name)
    }

    package var kind: Kind {
        switch self {
        case .cpuTime: .counter(["user": .cpuUser, "system": .cpuSystem])
        case .pagingFaults: .counter(["minor": .minorFaults, "major": .majorFaults])
        case .contextSwitches: .counter(["voluntary": .voluntarySwitches, "involuntary": .involuntarySwitches])
        case .memory: .level(.residentMemory)
        case .virtualMemory: .level(.virtualMemory)
        case .descriptors: .level(.descriptors)
        case .threads: .level(.threads)
        case .uptime: .level(.uptime)
        case .poolDelay: .delay(.poolDelay)
        case .mainQueueDelay: .delay(.mainQueueDelay)
        }
    }

    /// The attribute that divides a counter into parts: the current name first, then those of earlier conventions, and
    /// `type`, which OpenTelemetry's instrumentation for Python writes. Empty for metrics with one part.
    package var attributes: [String] {
        switch self {
        case .cpuTime: ["cpu.mode", "process.cpu.state", "state", "type"]
        case .pagingFaults: ["system.paging.fault.type", "process.paging.fault_type", "type"]
        case .contextSwitches: ["process.context_switch.type", "process.context_switch_type", "type"]
        default: []
        }
    }

    package var unit: String {
        switch self {
        case .cpuTime, .uptime, .poolDelay, .mainQueueDelay: "s"
        case .memory, .virtualMemory: "By"
        case .descriptors: "{file_descriptor}"
        case .threads: "{thread}"
        case .pagingFaults: "{fault}"
        case .contextSwitches: "{context_switch}"
        }
    }

    /// The factor from the metric's unit to that of ``ProcessStatistics``, which keeps times in nanoseconds.
    package var scale: Double { unit == "s" ? 1e9 : 1 }
}

extension MetricsBatch {
    /// The process's figures as metrics. Counters and delays are deltas of the interval; other figures are as of its
    /// end. A sum that goes up and down is cumulative even for senders of deltas (OpenTelemetry specification, "Metrics
    /// Exporter OTLP", temporality preference).
    var processMetrics: [OTLPMetric] { ProcessMetric.allCases.compactMap(metric) }

    private func metric(_ process: ProcessMetric) -> OTLPMetric? {
        var metric = OTLPMetric()
        (metric.name, metric.unit) = (process.rawValue, process.unit)
        switch process.kind {
        case .counter(let parts):
            let points = parts.sorted { $0.value.rawValue < $1.value.rawValue }.compactMap { name, counter in
                self.process.counts[counter].map { counterPoint($0, process, of: name) }
            }
            guard !points.isEmpty else { return nil }
            metric.sum.aggregationTemporality = .delta
            metric.sum.isMonotonic = true
            metric.sum.dataPoints = points
        case .level(let gauge):
            guard let value = self.process.gauges[gauge]?.mean else { return nil }
            let point = levelPoint(value, process)
            if process == .uptime {
                metric.gauge.dataPoints = [point]
            } else {
                metric.sum.aggregationTemporality = .cumulative
                metric.sum.dataPoints = [point]
            }
        case .delay(let gauge):
            guard let samples = self.process.gauges[gauge] else { return nil }
            metric.histogram.aggregationTemporality = .delta
            metric.histogram.dataPoints = [delayPoint(samples, process)]
        }
        return metric
    }

    private func counterPoint(_ value: UInt64, _ process: ProcessMetric, of part: String) -> OTLPNumberDataPoint {
        var point = OTLPNumberDataPoint()
        point.attributes = process.attributes.prefix(1).map { OTLPKeyValue($0, part) }
        point.startTimeUnixNano = start
        point.timeUnixNano = end
        if process.scale == 1 {
            point.asInt = Int64(clamping: value)
        } else {
            point.asDouble = Double(value) / process.scale
        }
        return point
    }

    private func levelPoint(_ value: Double, _ process: ProcessMetric) -> OTLPNumberDataPoint {
        var point = OTLPNumberDataPoint()
        if process != .uptime { point.startTimeUnixNano = instanceStart }
        point.timeUnixNano = end
        if process.scale == 1 { point.asInt = Int64(value) } else { point.asDouble = value / process.scale }
        return point
    }

    private func delayPoint(_ samples: ProcessStatistics.Samples, _ process: ProcessMetric) -> OTLPHistogramDataPoint {
        var point = OTLPHistogramDataPoint()
        point.startTimeUnixNano = start
        point.timeUnixNano = end
        point.count = samples.count
        point.sum = Double(samples.sum) / process.scale
        point.max = Double(samples.max) / process.scale
        return point
    }
}
