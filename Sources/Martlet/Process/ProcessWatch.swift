import Foundation
import MartletTelemetry

/// Reads the figures of this process at each interval. Only for the agent's thread.
struct ProcessWatch {
    private let start = ProcessSample.processStart()
    private let delays: DelayProbes
    private var last: ProcessSample

    init(_ delays: DelayProbes) {
        self.delays = delays
        last = ProcessSample(processStart: start)
    }

    /// Returns the figures since the last call, or since the watch began.
    ///
    /// - Parameter length: the length of the interval, in nanoseconds.
    mutating func next(_ length: UInt64) -> ProcessStatistics {
        let sample = ProcessSample(processStart: start)
        defer { last = sample }
        var statistics = ProcessStatistics()
        statistics.counts = sample.counts(since: last)
        statistics.covered = statistics.counts.isEmpty ? 0 : length
        for (gauge, value) in sample.gauges { statistics.add(value, of: gauge) }
        for (gauge, samples) in delays.take() { statistics.add(samples, of: gauge) }
        return statistics
    }
}

/// The figures of this process at one moment, from the kernel (getrusage(2), proc(5)). A figure that the system does
/// not report is missing.
struct ProcessSample {
    /// Totals since the process's start.
    private(set) var counts: [ProcessCounter: UInt64] = [:]
    private(set) var gauges: [ProcessGauge: UInt64] = [:]

    /// - Parameter start: see ``processStart()``.
    init(processStart start: UInt64?) {
        takeUsage()
        takeMemory()
        gauges[.threads] = Self.status(of: "/proc/self/task").flatMap {
            $0.st_nlink > 2 ? UInt64($0.st_nlink) - 2 : nil
        }
        gauges[.descriptors] = Self.descriptors()
        if let start, let now = Clock.sinceBoot() { gauges[.uptime] = now - min(start, now) }
    }

    /// Returns the increase of each counter since an earlier sample.
    func counts(since earlier: ProcessSample) -> [ProcessCounter: UInt64] {
        counts.reduce(into: [:]) { result, count in
            let before = earlier.counts[count.key] ?? 0
            result[count.key] = count.value - min(before, count.value)
        }
    }

    private mutating func takeUsage() {
        var usage = rusage()
        // The 0 is RUSAGE_SELF, a constant whose type depends on the C library.
        guard getrusage(0, &usage) == 0 else { return }
        counts = [
            .cpuUser: Self.nanoseconds(usage.ru_utime), .cpuSystem: Self.nanoseconds(usage.ru_stime),
            .minorFaults: UInt64(clamping: usage.ru_minflt), .majorFaults: UInt64(clamping: usage.ru_majflt),
            .voluntarySwitches: UInt64(clamping: usage.ru_nvcsw),
            .involuntarySwitches: UInt64(clamping: usage.ru_nivcsw),
        ]
    }

    private mutating func takeMemory() {
        guard let (virtual, resident) = Self.memory() else { return }
        (gauges[.virtualMemory], gauges[.residentMemory]) = (virtual, resident)
    }

    /// Returns the bytes of memory in RAM; `nil` if they are unknown.
    static func residentMemory() -> UInt64? { memory()?.resident }

    private static func memory() -> (virtual: UInt64, resident: UInt64)? {
        guard let text = text(of: "/proc/self/statm") else { return nil }
        let pages = text.split(separator: UInt8(ascii: " "), maxSplits: 2).prefix(2).map(number)
        guard pages.count == 2, let whole = pages[0], let resident = pages[1] else { return nil }
        let size = UInt64(clamping: sysconf(Int32(_SC_PAGESIZE)))
        return (whole &* size, resident &* size)
    }

    /// Returns the number of open descriptors. Linux 6.2 and later report it as the size of their folder. Earlier
    /// versions need a count one by one, and above ``MartletLimits/countedDescriptors`` the number is unknown.
    private static func descriptors() -> UInt64? {
        let path = "/proc/self/fd"
        if let size = status(of: path)?.st_size, size > 0 { return UInt64(size) }
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        // The folder's own descriptor is open too, and "." and ".." are not descriptors.
        var count = -3
        while readdir(folder) != nil {
            count += 1
            guard count <= MartletLimits.countedDescriptors else { return nil }
        }
        return UInt64(max(count, 0))
    }

    /// Returns the start of a process, in nanoseconds since the system's boot: field 22 of `/proc/<pid>/stat`.
    ///
    /// - Parameter process: its number; `self` for this process.
    static func processStart(of process: String = "self") -> UInt64? {
        guard let text = text(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
        // The name in parentheses may contain spaces. The first field after it is field 3.
        let fields = text[end...].dropFirst(2).split(separator: UInt8(ascii: " "), maxSplits: 20)
        let ticks = UInt64(clamping: sysconf(Int32(_SC_CLK_TCK)))
        guard fields.count > 19, let start = number(fields[19]), ticks > 0 else { return nil }
        return start / ticks &* 1_000_000_000 &+ start % ticks &* 1_000_000_000 / ticks
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// Returns the beginning of a small file, with one read.
    private static func text(of path: String) -> [UInt8]? {
        guard let file = OwnDescriptor(path: path, O_RDONLY) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file.number, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private static func number(_ digits: some Sequence<UInt8>) -> UInt64? {
        UInt64(String(decoding: Array(digits), as: UTF8.self))
    }

    private static func nanoseconds(_ time: timeval) -> UInt64 {
        UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_usec) &* 1000
    }
}
