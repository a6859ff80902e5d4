/// A quantity that the system counts from a process's start. Stores keep the raw value, as one of the eight bits of a byte.
package enum ProcessCounter: UInt8, Sendable, CaseIterable {
    /// CPU time in user code, in nanoseconds. A sender that does not tell modes apart reports all of its CPU time here.
    case cpuUser = 0
    /// CPU time in the kernel, in nanoseconds.
    case cpuSystem = 1
    /// Page faults without a read of the disk.
    case minorFaults = 2
    /// Page faults with a read of the disk.
    case majorFaults = 3
    /// Context switches of threads that waited.
    case voluntarySwitches = 4
    /// Context switches of threads whose turn was over.
    case involuntarySwitches = 5
}
