import MartletTelemetry

/// The figures of all processes of a version in an hour, once those of each process are no longer kept. A plain value.
package struct FoldedFigures: Sendable, Equatable {
    /// The processes with figures in the hour, those for which it is the first hour, and those that started in it.
    package var (processes, new, started) = (0, 0, 0)
    /// The start of the first interval and the end of the last one; 0 without figures.
    package var from: UnixNanoseconds = 0
    package var to: UnixNanoseconds = 0
    package var total = ProcessStatistics()
    /// The mean of each gauge of a process, times the nanoseconds that it lived in the hour, added up over all processes.
    package var levels: [ProcessGauge: Double] = [:]
    /// The same of the growth of each counter per second.
    package var rates: [ProcessCounter: Double] = [:]

    package init() {}

    /// Adds a process's levels and rates.
    ///
    /// - Parameter lived: nanoseconds.
    mutating func add(_ statistics: ProcessStatistics, lived: Double) {
        let slot = ProcessSlot(statistics)
        for (gauge, level) in slot.levels { levels[gauge, default: 0] += level * lived }
        for (counter, rate) in slot.rates { rates[counter, default: 0] += rate * lived }
    }

    package mutating func merge(_ other: FoldedFigures) {
        (processes, new, started) = (processes + other.processes, new + other.new, started + other.started)
        from = from == 0 || other.from == 0 ? max(from, other.from) : min(from, other.from)
        to = max(to, other.to)
        total.merge(other.total)
        levels.merge(other.levels, uniquingKeysWith: +)
        rates.merge(other.rates, uniquingKeysWith: +)
    }
}

extension ProcessSlot {
    /// Adds processes whose figures are folded.
    ///
    /// - Parameter length: the length of the slot's time, in nanoseconds.
    mutating func add(_ folded: FoldedFigures, over length: UInt64) {
        processes += folded.processes
        for (counter, rate) in folded.rates where length > 0 { rates[counter, default: 0] += rate / Double(length) }
        for (gauge, level) in folded.levels where length > 0 { levels[gauge, default: 0] += level / Double(length) }
        for (gauge, values) in folded.total.gauges {
            if samples[gauge]?.merge(values) == nil { samples[gauge] = values }
        }
    }
}

extension ProcessSums {
    /// The folded processes of a version. Its hours are added in order of time.
    package struct Version {
        let service: String
        private let runtimes: Set<String?>
        private var slots: [Int: FoldedFigures] = [:]
        private var (processes, started, isFirst) = (0, 0, true)
        private var total = ProcessStatistics()

        package init(service: String, _ runtimes: Set<String?>) {
            (self.service, self.runtimes) = (service, runtimes)
        }

        /// - Parameter slot: the index in the grid.
        package mutating func add(_ hour: FoldedFigures, to slot: Int) {
            started += hour.started
            guard hour.processes > 0 else { return }
            // A process of a later hour either has its first hour there, or is in an earlier one too.
            processes += isFirst ? hour.processes : hour.new
            isFirst = false
            total.merge(hour.total)
            var added = hour
            if slots[slot] != nil { added.processes = hour.new }
            slots[slot, default: FoldedFigures()].merge(added)
        }

        func add(to service: inout ProcessSums.Service) {
            guard processes > 0 else { return }
            service.processes += processes
            service.started += started
            service.runtimes.formUnion(runtimes)
            service.total.merge(total)
            service.folded.merge(slots) { one, other in
                var sum = one
                sum.merge(other)
                return sum
            }
        }
    }
}
