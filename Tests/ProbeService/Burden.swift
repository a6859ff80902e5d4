import Foundation

/// Work that the figures of a process show, and the figures that the program has of it.
struct Burden: Encodable {
    /// CPU time of the process at the end, in seconds.
    let cpuSeconds: Double
    /// Files that stay open.
    let files: Int
    /// A time for which no task could begin, in seconds.
    let blockedSeconds: Double

    /// Opens files, takes CPU time, and blocks every thread of the cooperative pool.
    static func carry() async -> Burden {
        let files = (0..<200).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }.filter { $0 >= 0 }.count
        burn(seconds: 1)
        let blocked = 1.5
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
                group.addTask { block(seconds: blocked) }
            }
        }
        return Burden(cpuSeconds: cpu, files: files, blockedSeconds: blocked)
    }

    private static func burn(seconds: Double) {
        let start = cpu
        while cpu - start < seconds {}
    }

    private static func block(seconds: Double) { Thread.sleep(forTimeInterval: seconds) }

    private static var cpu: Double {
        var usage = rusage()
        getrusage(0, &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
