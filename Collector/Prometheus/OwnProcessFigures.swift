import Foundation

/// The resources that the process itself uses, from the kernel (proc(5)).
package struct OwnProcessFigures: Sendable, Equatable {
    package var cpuSeconds: Double
    package var residentBytes: UInt64
    package var virtualBytes: UInt64
    /// The time at which the process started, in seconds since 1970.
    package var startSeconds: Double
    package var openFiles: UInt64
    package var maxFiles: UInt64

    /// Returns `nil` if the system has no `/proc`.
    package static func current() -> OwnProcessFigures? {
        guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")"), let boot = bootSeconds(),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        // The name in parentheses may have spaces. The first field after it is field 3, the state.
        let fields = stat[end...].split(separator: " ").dropFirst().map { UInt64($0) ?? 0 }
        guard fields.count > 21 else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        return OwnProcessFigures(
            cpuSeconds: Double(fields[11] + fields[12]) / ticks,
            residentBytes: fields[21] * UInt64(sysconf(Int32(_SC_PAGESIZE))), virtualBytes: fields[20],
            startSeconds: boot + Double(fields[19]) / ticks, openFiles: UInt64(files.count), maxFiles: maxOpenFiles())
    }

    private static func bootSeconds() -> Double? {
        let lines = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8))?.split(separator: "\n")
        return lines?.first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
    }

    private static func maxOpenFiles() -> UInt64 {
        let lines = (try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8))?.split(separator: "\n")
        let line = lines?.first { $0.hasPrefix("Max open files") }
        return line?.split(separator: " ").dropFirst(3).first.flatMap { UInt64($0) } ?? 0
    }
}
