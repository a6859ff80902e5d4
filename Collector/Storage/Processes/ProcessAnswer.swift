import MartletTelemetry

/// A query about the processes of services over time.
package struct ProcessQuery: Sendable, Equatable {
    package var window: TimeWindow
    /// The filter. Only dimensions that the sender decides have an effect.
    package var filter: RequestFilter
    /// The length of a slot, in nanoseconds. The store may answer in longer slots (``SlotGrid``).
    package var step: UInt64

    package init(window: TimeWindow, filter: RequestFilter = RequestFilter(), step: UInt64) {
        self.window = window
        self.filter = filter
        self.step = step
    }
}

/// The processes of services over time.
package struct ProcessAnswer: Sendable, Equatable {
    package var grid: SlotGrid
    /// The services with figures, ordered by name.
    package var services: [ProcessSeries]

    package init(grid: SlotGrid, services: [ProcessSeries]) {
        self.grid = grid
        self.services = services
    }
}

/// The processes of one service over time.
package struct ProcessSeries: Sendable, Equatable {
    package var service: String
    /// Processes that reported in the window.
    package var processes: Int
    /// Processes that started in the window.
    package var started: Int
    /// The names and versions of the processes' runtimes. The set includes `nil` if a process does not report its runtime.
    package var runtimes: Set<String?>
    /// All figures of the window.
    package var total: ProcessStatistics
    /// `nil` for a slot without figures.
    package var slots: [ProcessSlot?]

    package init(
        service: String, processes: Int, started: Int, runtimes: Set<String?>, total: ProcessStatistics,
        slots: [ProcessSlot?]
    ) {
        self.service = service
        self.processes = processes
        self.started = started
        self.runtimes = runtimes
        self.total = total
        self.slots = slots
    }
}

/// The figures of a service's processes in one slot.
package struct ProcessSlot: Sendable, Equatable {
    package var processes = 0
    /// The growth of each counter per second, over all processes.
    package var rates: [ProcessCounter: Double] = [:]
    /// The mean of each gauge over the slot, added up over all processes.
    package var levels: [ProcessGauge: Double] = [:]
    /// The samples of all processes, by gauge.
    package var samples: [ProcessGauge: ProcessStatistics.Samples] = [:]

    package init() {}

    /// The figures of one process.
    package init(_ statistics: ProcessStatistics) { add(statistics) }

    /// Adds a process.
    ///
    /// - Parameter share: the share of the slot's time for which the process lived.
    package mutating func add(_ statistics: ProcessStatistics, share: Double = 1) {
        processes += 1
        for (counter, count) in statistics.counts where statistics.covered > 0 {
            rates[counter, default: 0] += Double(count) / Double(statistics.covered) * 1e9 * share
        }
        for (gauge, values) in statistics.gauges {
            levels[gauge, default: 0] += values.mean * share
            if samples[gauge]?.merge(values) == nil { samples[gauge] = values }
        }
    }

    /// Busy cores; `nil` if unknown.
    package var cores: Double? {
        guard rates[.cpuUser] != nil || rates[.cpuSystem] != nil else { return nil }
        return ((rates[.cpuUser] ?? 0) + (rates[.cpuSystem] ?? 0)) / 1e9
    }
}
