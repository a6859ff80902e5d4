/// The figures of one process in one interval. They merge exactly. A plain value.
package struct ProcessStatistics: Sendable, Equatable {
    /// The increase of each counter in the interval. A counter that was not reported is missing.
    package var counts: [ProcessCounter: UInt64] = [:]
    /// The samples taken in the interval. A gauge that was not reported is missing.
    package var gauges: [ProcessGauge: Samples] = [:]
    /// The time that ``ProcessCounter/cpuUser`` covers, in nanoseconds.
    package var covered: UInt64 = 0

    /// Samples of one gauge.
    package struct Samples: Sendable, Equatable {
        package var count: UInt64
        package var sum: UInt64
        package var max: UInt64

        package init(count: UInt64, sum: UInt64, max: UInt64) {
            (self.count, self.sum, self.max) = (count, sum, max)
        }

        /// One sample.
        package init(_ value: UInt64) { self.init(count: 1, sum: value, max: value) }

        package var mean: Double { count > 0 ? Double(sum) / Double(count) : 0 }

        package mutating func merge(_ other: Samples) {
            (count, sum, max) = (count.adding(other.count), sum.adding(other.sum), Swift.max(max, other.max))
        }
    }

    package init() {}

    package var isEmpty: Bool { counts.isEmpty && gauges.isEmpty }

    /// CPU time in nanoseconds; `nil` if it was not reported.
    package var cpu: UInt64? {
        guard counts[.cpuUser] != nil || counts[.cpuSystem] != nil else { return nil }
        return (counts[.cpuUser] ?? 0).adding(counts[.cpuSystem] ?? 0)
    }

    /// The mean number of busy cores; `nil` if it was not reported.
    package var cores: Double? { covered > 0 ? cpu.map { Double($0) / Double(covered) } : nil }

    /// Adds one sample of a gauge.
    package mutating func add(_ value: UInt64, of gauge: ProcessGauge) { add(Samples(value), of: gauge) }

    package mutating func add(_ samples: Samples, of gauge: ProcessGauge) {
        if gauges[gauge]?.merge(samples) == nil { gauges[gauge] = samples }
    }

    package mutating func merge(_ other: ProcessStatistics) {
        counts.merge(other.counts) { $0.adding($1) }
        for (gauge, samples) in other.gauges { add(samples, of: gauge) }
        covered = covered.adding(other.covered)
    }
}

extension UInt64 {
    /// Returns the sum, or the largest number if it overflows: a sender may claim anything.
    package func adding(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// A quantity that the system counts from a process's start. Stores keep the raw value as the position of a bit in a
/// byte.
package enum ProcessCounter: UInt8, Sendable, CaseIterable {
    /// CPU time in user code, in nanoseconds. A sender that does not distinguish modes reports all of its CPU time
    /// here.
    case cpuUser = 0
    /// CPU time in the kernel, in nanoseconds.
    case cpuSystem = 1
    /// Page faults without a read of the disk.
    case minorFaults = 2
    /// Page faults with a read of the disk.
    case majorFaults = 3
    /// Context switches of threads that waited.
    case voluntarySwitches = 4
    /// Context switches of threads whose time slice was over.
    case involuntarySwitches = 5
}

/// A quantity of a process that goes up and down. Stores keep the raw value as the position of a bit in a byte.
package enum ProcessGauge: UInt8, Sendable, CaseIterable {
    /// Bytes of memory in RAM.
    case residentMemory = 0
    /// Bytes of address space.
    case virtualMemory = 1
    /// Open file descriptors.
    case descriptors = 2
    case threads = 3
    /// The time since the process's start, in nanoseconds.
    case uptime = 4
    /// The time that a job waits for a thread of Swift's cooperative pool, in nanoseconds.
    case poolDelay = 5
    /// The time that a block waits on the main queue, in nanoseconds.
    case mainQueueDelay = 6
}
