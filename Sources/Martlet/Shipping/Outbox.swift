import Foundation
import MartletTelemetry

/// One instance's batches on disk, locked by this process: its own, or those of a dead one that it took over.
struct Outbox: ~Copyable {
    let instance: String
    private let service: URL
    let directory: URL
    private let lock: FileLock

    /// Makes the directory of an instance that starts.
    static func create(instance: String, in service: URL) throws -> Outbox {
        try BufferDirectory.create(service)
        guard let lock = FileLock(path: lockPath(of: instance, in: service), isNew: true) else {
            throw WholeFile.Failure(operation: "lock", code: errno)
        }
        let outbox = Outbox(instance: instance, in: service, lock: lock)
        try BufferDirectory.create(outbox.directory)
        return outbox
    }

    /// Takes over a dead instance's batches; `nil` while a process holds its lock, and for a directory without one: that
    /// is somebody else's, who shares the place with us.
    static func adopt(instance: String, in service: URL) -> Outbox? {
        guard let lock = FileLock(path: lockPath(of: instance, in: service), isNew: false) else { return nil }
        return Outbox(instance: instance, in: service, lock: lock)
    }

    private init(instance: String, in service: URL, lock: consuming FileLock) {
        self.instance = instance
        self.service = service
        self.directory = service.appendingPathComponent(instance, isDirectory: true)
        self.lock = lock
    }

    /// The batches, oldest first; what is no batch is left alone. `nil` when they cannot be listed now.
    func batches() -> [BatchFile]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else {
            return Self.isMissing(directory.path) ? [] : nil
        }
        return names.sorted().compactMap(BatchFile.init(name:))
    }

    /// `false` once somebody has removed the directory or its lock.
    var isInPlace: Bool {
        !Self.isMissing(directory.path) && !Self.isMissing(Self.lockPath(of: instance, in: service))
    }

    func store(_ bytes: [UInt8], as file: BatchFile) throws {
        try WholeFile.write(bytes, to: path(of: file), in: directory.path)
    }

    /// `nil` when it is gone or cannot be read.
    func read(_ file: BatchFile) -> Data? {
        FileManager.default.contents(atPath: path(of: file))
    }

    func remove(_ file: BatchFile) {
        unlink(path(of: file))
    }

    /// Removes what a write that was cut off left behind.
    func removeTemporaryFiles() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        for name in names where BatchFile(temporaryName: name) != nil {
            unlink(directory.appendingPathComponent(name).path)
        }
    }

    /// Removes directory and lock if no batch is left. The last use: the lock is free afterwards.
    consuming func close() {
        if rmdir(directory.path) == 0 { unlink(Self.lockPath(of: instance, in: service)) }
    }

    private static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    private func path(of file: BatchFile) -> String {
        directory.appendingPathComponent(file.name).path
    }

    private static func lockPath(of instance: String, in service: URL) -> String {
        service.appendingPathComponent("\(instance).lock").path
    }
}
