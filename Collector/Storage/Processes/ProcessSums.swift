import MartletTelemetry

/// The sums of processes' points in the slots of their services. Pure.
///
/// The value of a slot is the sum of its processes' means, so a point that falls into a neighbouring slot changes little. A
/// process that lived for only part of the slot counts in proportion, so a process and its successor do not add up to two.
package struct ProcessSums {
    private let grid: SlotGrid
    private let maxSlots: Int
    private var services: [String: Service] = [:]
    private var processSlots = 0
    /// The largest number of slots, added up over all processes. One slot of one process takes about 500 bytes.
    package static let maxProcessSlots = 200_000

    /// The times and figures of a process in a slot.
    struct Part {
        var from: UnixNanoseconds
        var to: UnixNanoseconds
        var statistics: ProcessStatistics
        /// Whether the process has no later figures.
        var isLast = false
        /// Whether the slot has the process among its folded ones as well.
        var isCounted = false
        /// The length of an interval, in nanoseconds; 0 if unknown.
        var interval: UInt64 = 0

        mutating func merge(_ other: Part) {
            (from, to) = (min(from, other.from), max(to, other.to))
            statistics.merge(other.statistics)
        }

        /// The length of an interval by the number of samples.
        var sampledInterval: UInt64 {
            // Delays are sampled several times in an interval; these gauges are sampled once.
            let samples = [.uptime, .residentMemory, .threads].compactMap { statistics.gauges[$0]?.count }.max() ?? 1
            // Without counters the times begin at the end of the first interval.
            return (to - from) / max(1, statistics.covered > 0 ? samples : max(samples, 1) - 1)
        }

        /// Returns the share of the slot's time for which the process lived, from 0 to 1.
        func share(of slot: TimeWindow) -> Double {
            guard to > from, slot.to > slot.from else { return 1 }
            let start = max(statistics.covered > 0 ? from : from - min(from, interval), slot.from)
            // A process without later figures ended only if it missed an interval.
            let end = isLast && slot.to - min(slot.to, to) < interval ? slot.to : min(to, slot.to)
            return end > start ? Double(end - start) / Double(slot.to - slot.from) : 0
        }
    }

    struct Service {
        var processes = 0
        var started = 0
        var runtimes: Set<String?> = []
        var total = ProcessStatistics()
        var slots: [Int: [Part]] = [:]
        var folded: [Int: FoldedFigures] = [:]
    }

    /// A process of a service. Its points are added one after the other.
    package struct Process {
        private let resource: TelemetryResource
        private let firstSeen: UnixNanoseconds
        private let foldedUntil: UnixNanoseconds
        private var parts: [Int: Part] = [:]

        /// - Parameters:
        ///   - firstSeen: the start to assume if the process does not report its uptime.
        ///   - foldedUntil: the time up to which its figures are among those of its version: see ``FoldedFigures``.
        package init(_ resource: TelemetryResource, firstSeen: UnixNanoseconds, foldedUntil: UnixNanoseconds = 0) {
            (self.resource, self.firstSeen, self.foldedUntil) = (resource, firstSeen, foldedUntil)
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
        package var start: UnixNanoseconds {
            guard let last = parts.values.max(by: { $0.to < $1.to }), let uptime = last.statistics.gauges[.uptime]?.max
            else { return firstSeen }
            return last.to - min(uptime, last.to)
        }

        /// Adds the process to its service, and returns the number of slots that it fills.
        fileprivate func add(to service: inout Service, _ grid: SlotGrid) -> Int {
            guard !parts.isEmpty else { return 0 }
            var count = 0
            if foldedUntil <= grid.window.from {
                service.processes += 1
                if start > grid.window.from { service.started += 1 }
            }
            service.runtimes.insert(resource.runtime)
            for (slot, part) in lived {
                service.total.merge(part.statistics)
                var part = part
                part.isCounted = grid.window(ofSlot: slot).from < foldedUntil
                let filled = [slot] + slots(before: slot, since: parts[slot]?.from ?? part.from, grid)
                for one in filled { service.slots[one, default: []].append(part) }
                count += filled.count
            }
            return count
        }

        /// Returns the figures of the only slot of the process, as a part of those of its version.
        package func folded(in slot: TimeWindow) -> FoldedFigures {
            var folded = FoldedFigures()
            for (_, part) in lived {
                (folded.from, folded.to) = (max(part.from, slot.from), min(part.to, slot.to))
                folded.total.merge(part.statistics)
                folded.add(part.statistics, lived: part.share(of: slot) * Double(slot.length))
            }
            return folded
        }

        /// The parts in order of time. A part with a successor lived on until the successor ended, unless more than two intervals
        /// are missing in between.
        private var lived: [(slot: Int, part: Part)] {
            var lived = parts.sorted { $0.key < $1.key }.map { (slot: $0.key, part: $0.value) }
            for index in lived.indices { lived[index].part.interval = lived[index].part.sampledInterval }
            for index in lived.indices.dropFirst() {
                let (last, next) = (lived[index - 1].part, lived[index].part)
                let gap = next.from - min(next.from, last.to)
                guard gap <= 2 * max(last.interval, next.interval) else { continue }
                lived[index - 1].part.to = max(last.to, next.to)
                lived[index].part.from = min(last.to, next.from)
            }
            if !lived.isEmpty { lived[lived.count - 1].part.isLast = true }
            return lived
        }

        /// Returns the earlier slots without figures that the process's first interval in `slot` reaches into. An idle process
        /// reports only once a minute.
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

    /// - Parameter maxSlots: the largest number of slots, added up over all services.
    package init(_ grid: SlotGrid, maxSlots: Int) {
        self.grid = grid
        self.maxSlots = maxSlots
    }

    /// Adds a process whose points are complete.
    package mutating func add(_ process: Process) throws(TooManyGroups) {
        try makeRoom(for: process.service)
        processSlots += process.add(to: &services[process.service, default: Service()], grid)
        guard processSlots <= Self.maxProcessSlots else { throw TooManyGroups(limit: Self.maxProcessSlots) }
    }

    /// Adds the folded processes of a version.
    package mutating func add(_ version: Version) throws(TooManyGroups) {
        try makeRoom(for: version.service)
        version.add(to: &services[version.service, default: Service()])
    }

    private func makeRoom(for service: String) throws(TooManyGroups) {
        guard services[service] == nil else { return }
        let count = (services.count + 1).multipliedReportingOverflow(by: grid.count)
        guard !count.overflow, count.partialValue <= maxSlots else { throw TooManyGroups(limit: maxSlots) }
    }

    package var answer: ProcessAnswer {
        let series = services.filter { $0.value.processes > 0 }.map { name, service in
            ProcessSeries(
                service: name, processes: service.processes, started: service.started, runtimes: service.runtimes,
                total: service.total,
                slots: (0..<grid.count).map { slot in
                    Self.slot(service.slots[slot] ?? [], service.folded[slot], in: grid.window(ofSlot: slot))
                })
        }
        return ProcessAnswer(grid: grid, services: series.sorted { $0.service < $1.service })
    }

    /// - Parameter window: the time of the slot. Only the part in which at least one process reported counts.
    private static func slot(_ parts: [Part], _ folded: FoldedFigures?, in window: TimeWindow) -> ProcessSlot? {
        guard !parts.isEmpty || folded != nil else { return nil }
        let starts = parts.map(\.from) + (folded.map { [$0.from] } ?? [])
        let ends = parts.map(\.to) + (folded.map { [$0.to] } ?? [])
        let (from, to) = (starts.min() ?? 0, ends.max() ?? 0)
        let covered = TimeWindow(from: max(from, window.from), to: max(min(to, window.to), max(from, window.from)))
        var slot = ProcessSlot()
        for part in parts {
            slot.add(part.statistics, share: part.share(of: covered))
            if part.isCounted { slot.processes -= 1 }
        }
        if let folded { slot.add(folded, over: covered.length) }
        return slot
    }
}
