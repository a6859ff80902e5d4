import MartletStorage
import MartletTelemetry

/// The processes of services over time. Its JSON is a fixed format.
package struct ProcessReport: Sendable, Equatable, Codable {
    /// RFC 3339, UTC.
    package var from: String
    package var to: String
    /// The length of a slot, in seconds. The window cuts the first and the last slot short.
    package var step: Double
    /// The end of each slot, RFC 3339, UTC.
    package var ends: [String]
    package var rows: [Row]

    /// The processes of one service.
    package struct Row: Sendable, Equatable, Codable {
        package var service: String
        /// Processes that reported in the window.
        package var processes: Int
        /// The number of processes that started in the window. If it exceeds the number of the service's instances, some were
        /// restarted.
        package var started: Int
        /// CPU time in the window, in seconds.
        package var cpuSeconds: Double?
        /// `nil` if there is nothing to report.
        package var busyWait: BusyWait?
        /// The measures of each slot; `nil` for a slot without figures.
        package var slots: [ProcessMeasures?]

        private enum CodingKeys: String, CodingKey {
            case service, processes, started, slots
            case cpuSeconds = "cpu_seconds"
            case busyWait = "busy_wait"
        }

        package init(_ series: ProcessSeries, _ busyWait: BusyWait?) {
            service = series.service
            processes = series.processes
            started = series.started
            cpuSeconds = series.total.cpu.map { Double($0) / 1e9 }
            self.busyWait = busyWait
            slots = series.slots.map { $0.map(ProcessMeasures.init) }
        }
    }

    private enum CodingKeys: String, CodingKey {
        case from, to, ends, rows
        case step = "step_seconds"
    }

    package init(_ answer: ProcessAnswer, _ busyWaits: [BusyWait]) {
        from = TimeText.exact(answer.grid.window.from)
        to = TimeText.exact(answer.grid.window.to)
        step = Double(answer.grid.step) / 1e9
        ends = (0..<answer.grid.count).map { TimeText.exact(answer.grid.window(ofSlot: $0).to) }
        rows = answer.services.map { series in Row(series, busyWaits.first { $0.service == series.service }) }
    }
}

/// The figures of one process, or of all processes of a service. An unknown figure is left out.
package struct ProcessMeasures: Sendable, Equatable, Codable {
    /// Processes of the service; `nil` for the figures of one process.
    package var processes: Int?
    /// The mean number of busy cores, and the part of it that ran in the kernel.
    package var cores: Double?
    package var systemCores: Double?
    /// Bytes in RAM, and the largest number that one process had.
    package var memory: Double?
    package var largestMemory: UInt64?
    /// Bytes of address space.
    package var virtualMemory: Double?
    /// The time since the start of a process; `nil` for several processes.
    package var uptime: Double?
    package var threads: Double?
    package var descriptors: Double?
    /// Page faults that needed a disk read, per second.
    package var majorFaults: Double?
    package var contextSwitches: Double?
    /// How long a job waited for a thread of Swift's cooperative pool, and how long a block waited on the main queue.
    package var poolDelay: Delay?
    package var mainQueueDelay: Delay?

    /// Milliseconds.
    package struct Delay: Sendable, Equatable, Codable {
        package var mean: Double
        package var max: Double
    }

    private enum CodingKeys: String, CodingKey {
        case processes, threads, descriptors
        case uptime = "uptime_seconds"
        case cores = "cpu_cores"
        case systemCores = "cpu_system_cores"
        case memory = "memory_bytes"
        case largestMemory = "memory_largest_bytes"
        case virtualMemory = "virtual_memory_bytes"
        case majorFaults = "major_faults_per_second"
        case contextSwitches = "context_switches_per_second"
        case poolDelay = "pool_delay_ms"
        case mainQueueDelay = "main_queue_delay_ms"
    }

    package init(_ slot: ProcessSlot) {
        processes = slot.processes
        cores = slot.cores
        systemCores = slot.rates[.cpuSystem].map { $0 / 1e9 }
        memory = slot.levels[.residentMemory]
        largestMemory = slot.samples[.residentMemory]?.max
        virtualMemory = slot.levels[.virtualMemory]
        threads = slot.levels[.threads]
        descriptors = slot.levels[.descriptors]
        majorFaults = slot.rates[.majorFaults]
        let switches = [slot.rates[.voluntarySwitches], slot.rates[.involuntarySwitches]].compactMap(\.self)
        contextSwitches = switches.isEmpty ? nil : switches.reduce(0, +)
        poolDelay = slot.samples[.poolDelay].map(Delay.init)
        mainQueueDelay = slot.samples[.mainQueueDelay].map(Delay.init)
    }

    /// The figures of one process.
    package init(_ statistics: ProcessStatistics) {
        self.init(ProcessSlot(statistics))
        processes = nil
        uptime = statistics.gauges[.uptime].map { Double($0.max) / 1e9 }
    }
}

extension ProcessMeasures.Delay {
    fileprivate init(_ samples: ProcessStatistics.Samples) {
        self.init(mean: samples.mean / 1e6, max: Double(samples.max) / 1e6)
    }
}
