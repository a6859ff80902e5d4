import MartletStorage
import MartletTelemetry

/// The senders as metrics for Prometheus: ledgers, capture and the latest arrival, by service and instance.
package enum PrometheusAgents {
    /// The most senders on a page, with some ten lines each. If there are more, the page has those seen most recently.
    package static let maxAgents = 1_000
    /// How long a silent sender stays on the page, in nanoseconds. Processes that ended long ago are of no interest there.
    package static let window: UnixNanoseconds = 3600 * 1_000_000_000

    private typealias Sender = (labels: PrometheusLabels, record: AgentRecord)

    /// - Parameter answer: the senders, the most recently seen first. Of several senders with the same labels, only the first one
    ///   is shown, because Prometheus accepts no sample twice.
    package static func text(of answer: AgentsAnswer) -> String {
        var known: Set<PrometheusLabels> = []
        let senders: [Sender] = answer.agents.map { (PrometheusLabels($0.resource), $0) }
            .filter { known.insert($0.labels).inserted }
        var text = PrometheusText()
        text.add(
            "martlet_collector_agents", .gauge, "Senders of the last hour that are on this page.", senders.count)
        text.add(
            "martlet_collector_agents_left_out", .gauge, "Senders of the last hour that are not on this page.",
            answer.agents.count - senders.count + answer.more)
        for metric in metrics { metric.write(senders, to: &text) }
        return text.text
    }

    /// A metric, and a sender's samples of it.
    private struct Metric: Sendable {
        let name: String
        let kind: PrometheusText.Kind
        let help: String
        let samples: @Sendable (AgentRecord, PrometheusLabels) -> [PrometheusLabels: Double]

        init(
            _ name: String, _ kind: PrometheusText.Kind, _ help: String,
            samples: @escaping @Sendable (AgentRecord, PrometheusLabels) -> [PrometheusLabels: Double]
        ) {
            self.name = "martlet_agent_" + name
            self.kind = kind
            self.help = help
            self.samples = samples
        }

        /// Creates a metric with one sample for each sender, or none if `value` returns `nil`.
        init(
            _ name: String, _ kind: PrometheusText.Kind, _ help: String,
            value: @escaping @Sendable (AgentRecord) -> Double?
        ) {
            self.init(name, kind, help) { record, labels in value(record).map { [labels: $0] } ?? [:] }
        }

        func write(_ senders: [Sender], to text: inout PrometheusText) {
            text.begin(name, kind, help)
            for sender in senders {
                let samples = samples(sender.record, sender.labels).sorted { $0.key.text < $1.key.text }
                for (labels, value) in samples { text.add(name, value, labels) }
            }
        }
    }

    private static let metrics = [
        Metric("info", .gauge, "Always 1; the labels have the sender's software and how it captures.") {
            record, labels in
            let resource = record.resource
            return [labels.adding("agent", resource.agent ?? "").adding("capture", resource.captureMode ?? ""): 1]
        },
        Metric("last_seen_timestamp_seconds", .gauge, "Arrival of the latest batch.") { Double($0.lastSeen) / 1e9 },
        Metric("capturing", .gauge, "1 if capture is on, 0 if it is off.") {
            $0.resource.captureMode.map { $0 == "off" ? 0 : 1 }
        },
        Metric("unwatched_seconds_total", .counter, "Time since the start of the process in which capture was off.") {
            $0.ledger.map { Double($0.unwatched) / 1e9 }
        },
        Metric("cpu_seconds_total", .counter, "CPU time that the agent took since the start of its process.") {
            $0.ledger.flatMap { $0.agentCPU > 0 ? Double($0.agentCPU) / 1e9 : nil }
        },
        Metric("captured_requests_total", .counter, "Requests that the agent captured.") {
            $0.ledger.map { Double($0.captured) }
        },
        Metric("delivered_requests", .gauge, "Captured requests that arrived.") {
            $0.ledger.map { Double($0.delivered) }
        },
        Metric("waiting_requests", .gauge, "Captured requests that have not arrived yet.") {
            $0.ledger.map { Double($0.waiting) }
        },
        Metric("dropped_requests_total", .counter, "Captured requests that were lost, by reason.") { record, labels in
            // The reasons are the sender's own words. Two of them may differ only in characters that labels cannot hold.
            let dropped = record.ledger?.dropped ?? [:]
            return Dictionary(
                dropped.map { (labels.adding("reason", $0.key), Double($0.value)) }, uniquingKeysWith: +)
        },
        Metric("missing_batches", .gauge, "Batches that did not arrive although a later one did.") {
            $0.gaps.map { Double($0.missing) }
        },
    ]
}

extension PrometheusLabels {
    fileprivate init(_ resource: TelemetryResource) {
        self = [
            "service_name": resource.service,
            "deployment_environment_name": resource.environment,
            "service_version": resource.version,
            "service_instance_id": resource.instance,
            "host_name": resource.host,
        ]
    }
}

/// The processes of services as metrics for Prometheus, added up by service and environment. In a large fleet, separate samples
/// for each process would be too many.
package enum PrometheusServices {
    /// The time after which a silent process is left out, in nanoseconds. An idle process reports once a minute.
    static let silence: UnixNanoseconds = 180 * 1_000_000_000

    private struct Metric: Sendable {
        let name: String
        let help: String
        let value: @Sendable (ProcessSlot) -> Double?
    }

    private static let metrics = [
        Metric(name: "processes", help: "Processes that report about themselves.") { Double($0.processes) },
        Metric(name: "cpu_cores", help: "Busy cores, a mean over the last minute.", value: \.cores),
        Metric(name: "resident_memory_bytes", help: "Memory in RAM.") { $0.levels[.residentMemory] },
        Metric(name: "virtual_memory_bytes", help: "Address space.") { $0.levels[.virtualMemory] },
        Metric(name: "open_fds", help: "Open file descriptors.") { $0.levels[.descriptors] },
        Metric(name: "threads", help: "Threads.") { $0.levels[.threads] },
        Metric(name: "pool_delay_seconds", help: "Longest wait for a thread of Swift's cooperative pool.") {
            $0.samples[.poolDelay].map { Double($0.max) / 1e9 }
        },
        Metric(name: "main_queue_delay_seconds", help: "Longest wait on the main queue.") {
            $0.samples[.mainQueueDelay].map { Double($0.max) / 1e9 }
        },
    ]

    /// - Parameters:
    ///   - answer: the senders. Senders that it leaves out are missing from the sums.
    ///   - now: the time by the collector's clock.
    package static func text(of answer: AgentsAnswer, now: UnixNanoseconds) -> String {
        var services: [PrometheusLabels: ProcessSlot] = [:]
        for agent in answer.agents where agent.lastSeen + silence >= now {
            guard let process = agent.process else { continue }
            let labels: PrometheusLabels = [
                "service_name": agent.resource.service, "deployment_environment_name": agent.resource.environment,
            ]
            services[labels, default: ProcessSlot()].add(process)
        }
        var text = PrometheusText()
        for metric in metrics {
            let samples = services.compactMap { labels, slot in metric.value(slot).map { (labels, $0) } }
            guard !samples.isEmpty else { continue }
            let name = "martlet_service_" + metric.name
            text.begin(name, .gauge, metric.help)
            for (labels, value) in samples.sorted(by: { $0.0.text < $1.0.text }) { text.add(name, value, labels) }
        }
        return text.text
    }
}
