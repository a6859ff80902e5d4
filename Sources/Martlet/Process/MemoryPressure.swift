import Foundation

/// The figures that show whether the kernel killed a process because memory was short.
enum MemoryPressure {
    /// Returns the bytes of memory that the process may use: the lowest limit of its control groups, or the host's memory.
    ///
    /// - Parameter read: returns the text of a file; `nil` if it cannot be read.
    static func limit(read: (String) -> String? = text) -> UInt64 {
        let host = UInt64(clamping: sysconf(Int32(_SC_PHYS_PAGES))) &* UInt64(clamping: sysconf(Int32(_SC_PAGESIZE)))
        return limitFiles(groups: read("/proc/self/cgroup") ?? "").reduce(host) { lowest, path in
            // Without a limit, the text is `max`, or a number of exabytes.
            let limit = read(path).flatMap { UInt64($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            return min(lowest, limit.flatMap { $0 > 0 ? $0 : nil } ?? lowest)
        }
    }

    /// Returns the files with the limits of a process's control groups and the groups around them (cgroups(7)): version 2,
    /// then version 1. In a container the own group is the root of what it sees.
    static func limitFiles(groups: String) -> [String] {
        var files: [String] = []
        for line in groups.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let isUnified = fields[0] == "0" && fields[1].isEmpty
            guard isUnified || fields[1].split(separator: ",").contains("memory") else { continue }
            let root = isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"
            let file = isUnified ? "memory.max" : "memory.limit_in_bytes"
            var parts = fields[2].split(separator: "/")
            while true {
                files.append(([root] + parts.map(String.init) + [file]).joined(separator: "/"))
                guard parts.popLast() != nil else { break }
            }
        }
        return files
    }

    /// Returns how many processes of the host the kernel has killed for memory since its boot; `nil` if it does not say.
    /// The number of a control group would begin at 0 in a container that is started again.
    static func kills(read: (String) -> String? = text) -> UInt64? {
        read("/proc/vmstat")?.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
            .flatMap { UInt64($0.dropFirst("oom_kill ".count)) }
    }

    /// Returns the host's boot id, which is another after each boot; empty if it is unknown.
    static func boot(read: (String) -> String? = text) -> String {
        (read("/proc/sys/kernel/random/boot_id") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns the text of a small file, with few reads: `/proc` does not know the size of its files.
    static func text(of path: String) -> String? {
        guard let file = OwnDescriptor(path: path, O_RDONLY) else { return nil }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 8192)
        while text.count < 64 << 10 {
            let count = read(file.number, &part, part.count)
            guard count > 0 else { break }
            text += part.prefix(count)
        }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }
}
