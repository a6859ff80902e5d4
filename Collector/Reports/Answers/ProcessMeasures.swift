import MartletStorage
import MartletTelemetry

/// The figures of one process, or of a service's processes together. A figure that is not told is left out.
package struct ProcessMeasures: Sendable, Equatable, Codable {
    /// Processes of the service; `nil` for the figures of one process.
    package var processes: Int?
    /// The mean number of busy cores, and the part of it in the kernel.
    package var cores: Double?
    package var systemCores: Double?
    /// Bytes in RAM, and the most that one process had.
    package var memory: Double?
    package var largestMemory: UInt64?
    /// Bytes of address space.
    package var virtualMemory: Double?
    /// The time since the start of a process; `nil` for several processes.
    package var uptime: Double?
    package var threads: Double?
    package var descriptors: Double?
    /// Page faults with a read of the disk, per second.
    package var majorFaults: Double?
    package var contextSwitches: Double?
    /// The time that a job waited for a thread of Swift's cooperative pool, and a block on the main queue.
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
