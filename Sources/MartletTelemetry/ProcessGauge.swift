/// A quantity of a process that goes up and down. Stores keep the raw value, as one of the eight bits of a byte.
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
