import Foundation
import MartletTelemetry

/// The place in which an instance's batches wait for the collector: its directory (``Outbox``), or memory if no directory can be
/// used (``MemoryOutbox``). Not thread-safe.
protocol BatchStore: ~Copyable {
    var instance: String { get }
    /// The account of the batches that are gone, across all stores of the instance.
    var account: OutboxAccount { get }

    /// Takes over the account from another store of the instance, which has kept it up to date.
    mutating func adopt(account: OutboxAccount)

    /// Returns the batches that wait, oldest first; `nil` if they cannot be listed now.
    mutating func batches() -> [StoredBatch]?

    /// Returns the room that a batch takes, in bytes (``StoredBatch/size``).
    func size(of file: BatchFile) -> Int

    /// Returns the batch's body; `nil` if it is gone or cannot be read now.
    mutating func read(_ file: BatchFile) -> [UInt8]?

    /// Marks a batch as about to be sent. It must not be changed after that.
    ///
    /// - Parameter place: the collector that may have the batch from now on; `nil` to take back an earlier mark.
    /// - Returns: the marked batch; `nil` if it cannot be marked. It must not be sent then.
    mutating func mark(_ file: BatchFile, at place: PossibleHolder?) -> BatchFile?

    /// Removes a batch for good, and notes its end in the account.
    mutating func settle(_ file: BatchFile, as settlement: Settlement)

    /// The stored sums; `nil` for none.
    var sums: CumulativeSums? { get }

    /// Stores the sums of the delivered batches for another process, which may deliver the next batch. Call it before
    /// the settlement of the batch that was added to them.
    func keep(_ sums: CumulativeSums)

    /// Replaces a batch with parts that cover the same requests. If they cannot be stored, throws and changes nothing.
    mutating func replace(_ file: BatchFile, with parts: [EncodedBatch]) throws
}

/// A batch that is stored in a directory or in memory.
struct StoredBatch: Sendable, Equatable {
    var file: BatchFile
    /// The room that it takes in bytes: on the disk in whole blocks, in memory the size of its body.
    var size: Int
    /// When it was written, or first sent.
    var modified: UnixNanoseconds

    /// Returns the batches in a directory, oldest first; `nil` if they cannot be listed now. Ignores other files.
    static func all(in directory: URL) -> [StoredBatch]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else {
            return access(directory.path, F_OK) != 0 && errno == ENOENT ? [] : nil
        }
        let path = directory.path
        return names.sorted().compactMap { name in
            guard let file = BatchFile(name: name) else { return nil }
            var status = stat()
            // Files that are already gone and dangling links are listed too, because other processes may still see
            // them.
            _ = lstat("\(path)/\(name)", &status)
            return StoredBatch(file: file, size: DiskUse.bytes(status), modified: status.modified)
        }
    }

    /// Returns the batches that another batch supersedes (``BatchFile/supersedes(_:)``), grouped by the superseding
    /// batch.
    static func superseded(in batches: [StoredBatch]) -> [(by: BatchFile, files: [BatchFile])] {
        var found: [(by: BatchFile, files: [BatchFile])] = []
        for signal in Signal.allCases {
            var container: BatchFile?
            // The widest of the batches that begin at one sequence comes first, and a whole batch before its parts.
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

/// The end of a batch, as ``BatchStore/settle(_:as:)`` notes it.
enum Settlement: Equatable {
    /// - Parameter rejected: requests of the batch that the collector did not take.
    case delivered(rejected: UInt64)
    case dropped(DropReason)
}
