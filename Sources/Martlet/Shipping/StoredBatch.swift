import Foundation
import MartletTelemetry

/// A batch that is stored in a directory or in memory.
struct StoredBatch: Sendable, Equatable {
    var file: BatchFile
    /// The size of its body, in bytes.
    var size: Int
    /// The time when it was written, or first sent.
    var modified: UnixNanoseconds

    /// Returns the batches in a directory, oldest first, without other files; `nil` if they cannot be listed now.
    static func all(in directory: URL) -> [StoredBatch]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else {
            return access(directory.path, F_OK) != 0 && errno == ENOENT ? [] : nil
        }
        let path = directory.path
        return names.sorted().compactMap { name in
            guard let file = BatchFile(name: name) else { return nil }
            var status = stat()
            // A file that is gone by now and a link that leads nowhere are listed too, because other processes may still see
            // them.
            _ = lstat("\(path)/\(name)", &status)
            let time = status.st_mtim
            return StoredBatch(
                file: file, size: Int(status.st_size),
                modified: UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec))
        }
    }

    /// Returns the batches that another one stands for (``BatchFile/supersedes(_:)``), each list with that one.
    static func superseded(in batches: [StoredBatch]) -> [(by: BatchFile, files: [BatchFile])] {
        var found: [(by: BatchFile, files: [BatchFile])] = []
        for signal in Signal.allCases {
            var container: BatchFile?
            // The widest of the batches that begin at one sequence comes first, and a whole batch ahead of its parts.
            let files = batches.map(\.file).filter { $0.signal == signal }.sorted {
                ($0.first, $1.sequence, $0.part) < ($1.first, $0.sequence, $1.part)
            }
            for file in files {
                guard let present = container, present.supersedes(file) else {
                    container = file
                    continue
                }
                if found.last?.by != present { found.append((present, [])) }
                found[found.count - 1].files.append(file)
            }
        }
        return found
    }
}
