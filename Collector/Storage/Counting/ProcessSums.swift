import MartletTelemetry

/// Adds the points of processes up to the slots of their services. Pure.
///
/// The processes of a slot are added by their means, so that a point that falls into the slot beside its own changes little. A
/// process that lived in a part of the slot counts for that part: one that followed another is not added to it.
package struct ProcessSums {
    private let grid: SlotGrid
    private let maxSlots: Int
    private var services: [String: Service] = [:]

    /// The times and figures of a process in a slot.
    fileprivate struct Part {
        var from: UnixNanoseconds
        var to: UnixNanoseconds
        var statistics: ProcessStatistics

        mutating func merge(_ other: Part) {
            (from, to) = (min(from, other.from), max(to, other.to))
            statistics.merge(other.statistics)
        }

        /// The part of a slot's time that the process lived, at most 1. Two intervals more or less are no beginning and no end.
        func share(of slot: Double) -> Double {
            let (length, points) = (Double(to - from), Double(statistics.gauges.values.map(\.count).max() ?? 1))
            return length > 0 ? min(1, length * (1 + 2 / max(points, 1)) / slot) : 1
        }
    }

    fileprivate struct Service {
        var processes = 0
        var started = 0
        var runtimes: Set<String?> = []
        var total = ProcessStatistics()
        var slots: [Int: [Part]] = [:]
    }

    /// A process of a service, whose points are added one after the other.
    package struct Process {
        private let resource: TelemetryResource
        private let firstSeen: UnixNanoseconds
        private var parts: [Int: Part] = [:]

        /// - Parameter firstSeen: stands for the start of a process that does not tell its uptime.
        package init(_ resource: TelemetryResource, firstSeen: UnixNanoseconds) {
            self.resource = resource
            self.firstSeen = firstSeen
        }

        /// - Parameters:
        ///   - slot: the index in the grid.
        ///   - start: the start of the first interval in the figures.
        ///   - end: the end of the last one.
        package mutating func add(
            _ statistics: ProcessStatistics, to slot: Int, from start: UnixNanoseconds, to end: UnixNanoseconds
        ) {
            let part = Part(from: min(start, end), to: end, statistics: statistics)
            if parts[slot]?.merge(part) == nil { parts[slot] = part }
        }

        /// The process's start, by its own clock.
        private var start: UnixNanoseconds {
            guard let last = parts.values.max(by: { $0.to < $1.to }), let uptime = last.statistics.gauges[.uptime]?.max
            else { return firstSeen }
            return last.to - min(uptime, last.to)
        }

        fileprivate func add(to service: inout Service, _ grid: SlotGrid) {
            guard !parts.isEmpty else { return }
            service.processes += 1
            if start > grid.window.from { service.started += 1 }
            service.runtimes.insert(resource.runtime)
            for (slot, part) in parts {
                service.total.merge(part.statistics)
                service.slots[slot, default: []].append(part)
                for earlier in slots(before: slot, since: part.from, grid) {
                    service.slots[earlier, default: []].append(part)
                }
            }
        }

        /// Returns the slots before one that its first interval reaches into, and that have no figures: a process at rest reports
        /// itself once a minute.
        private func slots(before slot: Int, since start: UnixNanoseconds, _ grid: SlotGrid) -> [Int] {
            var (earlier, found) = (slot - 1, [Int]())
            while earlier >= 0, parts[earlier] == nil, grid.window(ofSlot: earlier).to > start {
                found.append(earlier)
                earlier -= 1
            }
            return found
        }

        fileprivate var service: String { resource.service }
    }

    /// - Parameter maxSlots: slots of all services together at most.
    package init(_ grid: SlotGrid, maxSlots: Int) {
        self.grid = grid
        self.maxSlots = maxSlots
    }

    /// Adds a process whose points are complete.
    package mutating func add(_ process: Process) throws(TooManyGroups) {
        if services[process.service] == nil {
            let count = (services.count + 1).multipliedReportingOverflow(by: grid.count)
            guard !count.overflow, count.partialValue <= maxSlots else { throw TooManyGroups(limit: maxSlots) }
        }
        process.add(to: &services[process.service, default: Service()], grid)
    }

    package var answer: ProcessAnswer {
        let series = services.filter { $0.value.processes > 0 }.map { name, service in
            ProcessSeries(
                service: name, processes: service.processes, started: service.started, runtimes: service.runtimes,
                total: service.total, slots: (0..<grid.count).map { service.slots[$0].map(Self.slot) })
        }
        return ProcessAnswer(grid: grid, services: series.sorted { $0.service < $1.service })
    }

    private static func slot(_ parts: [Part]) -> ProcessSlot {
        let from = parts.map(\.from).min() ?? 0
        let length = Double((parts.map(\.to).max() ?? from) - from)
        var slot = ProcessSlot()
        for part in parts { slot.add(part.statistics, share: part.share(of: length)) }
        return slot
    }
}
