import MartletStorage
import MartletTelemetry

/// The processes of services for Prometheus, added up by service and environment: a fleet would have too many samples of its
/// own for each process.
package enum PrometheusServices {
    /// The time after which a silent process is left out, in nanoseconds: one at rest reports itself once a minute.
    static let silence: UnixNanoseconds = 180 * 1_000_000_000

    private struct Metric: Sendable {
        let name: String
        let help: String
        let value: @Sendable (ProcessSlot) -> Double?
    }

    private static let metrics = [
        Metric(name: "processes", help: "Processes that tell of themselves.") { Double($0.processes) },
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
    ///   - answer: the senders; those that it leaves out are in no sum.
    ///   - now: the collector's clock.
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
