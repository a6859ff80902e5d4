/// Finds memory that grows without end: a line through the last hour of a process rises by more than its caches would, and by
/// many standard errors of its slope.
struct MemoryDetector {
    private struct Readings {
        /// The first minute with a reading, even if that is no longer kept.
        let begin: Minute
        var minutes: [Minute] = []
        var memory: [Double] = []
    }

    /// Minutes between looks: a line changes little in less.
    private static let pace = 4
    /// Minutes without growth after which it is over.
    private static let patience = 20

    private var readings: [ProcessIdentity: Readings] = [:]
    /// The last minute in which a service's memory was found to grow.
    private var grew: [String: Minute] = [:]

    /// - Parameter begin: the first minute of all data.
    mutating func take(_ fleet: FleetMinute, begin: Minute, _ episodes: inout EpisodeList) {
        for report in fleet.processes { add(report) }
        guard (fleet.minute + 1 - begin) % Self.pace == 0 else { return }
        readings = readings.filter { $0.value.minutes.last.map { $0 > fleet.minute - 2 } ?? false }
        for (process, readings) in readings.sorted(by: { $0.key < $1.key }) {
            guard let growth = Self.growth(readings) else { continue }
            note(process, growth, readings.begin, since: begin, fleet.minute, &episodes)
        }
        close(fleet.minute, &episodes)
    }

    /// A reading of a minute that is already known is left out.
    private mutating func add(_ report: ReportedProcess) {
        let minute = report.minute
        guard let memory = report.memory, readings[report.process]?.minutes.last.map({ $0 < minute }) ?? true else {
            return
        }
        guard readings[report.process] != nil || readings.count < FindingConstants.instances else { return }
        var known = readings[report.process] ?? Readings(begin: minute)
        known.minutes.append(minute)
        known.memory.append(memory)
        if known.minutes.count > FindingConstants.memoryMinutesAtMost {
            known.minutes.removeFirst()
            known.memory.removeFirst()
        }
        readings[report.process] = known
    }

    private mutating func note(
        _ process: ProcessIdentity, _ growth: Double, _ begin: Minute, since dataBegin: Minute, _ minute: Minute,
        _ episodes: inout EpisodeList
    ) {
        grew[process.service] = minute
        let start = FindingTime.slot(of: begin)
        let known = episodes.last { $0.kind == .memory && $0.place == .service(process.service) }
        let number = (known ?? episodes.add(.memory, at: .service(process.service), opened: minute, start: start))
            .number
        episodes.change(number) {
            if known == nil { ($0.growth, $0.isStartKnown) = (growth, begin > dataBegin + 1) }
            if !$0.versions.contains(process.version) { $0.versions.append(process.version) }
            ($0.isOpen, $0.end) = (true, nil)
        }
    }

    private mutating func close(_ minute: Minute, _ episodes: inout EpisodeList) {
        for (service, last) in grew where minute - last > Self.patience {
            grew[service] = nil
            episodes.changeEach {
                guard $0.kind == .memory, $0.place == .service(service), $0.isOpen else { return }
                ($0.isOpen, $0.end) = (false, FindingTime.slot(of: last + 1))
            }
        }
    }

    /// Returns the growth in MiB a minute if it is certain.
    private static func growth(_ readings: Readings) -> Double? {
        guard let first = readings.minutes.first, let last = readings.minutes.last, readings.minutes.count >= 8,
            last - first >= FindingConstants.memoryMinutes, let before = readings.memory.first
        else { return nil }
        let line = Line(readings.minutes.map { Double($0 - first) }, readings.memory)
        let grown = line.slope * Double(last - first)
        let isEnough = grown > max(FindingConstants.memoryGrowth, FindingConstants.memoryShare * before)
        return isEnough && line.slope > FindingConstants.memoryErrors * line.error ? line.slope : nil
    }
}

/// A line through points, by least squares.
private struct Line {
    let slope: Double
    /// The standard error of the slope.
    let error: Double

    init(_ x: [Double], _ y: [Double]) {
        let n = Double(max(x.count, 1))
        let (meanX, meanY) = (x.reduce(0, +) / n, y.reduce(0, +) / n)
        let squares = max(x.reduce(0) { $0 + ($1 - meanX) * ($1 - meanX) }, 1e-9)
        let slope = zip(x, y).reduce(0) { $0 + ($1.0 - meanX) * $1.1 } / squares
        let rest = zip(x, y).reduce(0) { sum, point in
            let off = point.1 - meanY - slope * (point.0 - meanX)
            return sum + off * off
        }
        self.slope = slope
        error = (rest / max(n - 2, 1) / squares).squareRoot()
    }
}
