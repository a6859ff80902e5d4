import Foundation

/// A small file system in memory, of a given size. It is unmounted when the value is released.
package final class SmallDisk: Sendable {
    package struct Failure: Error {}

    /// Whether this process may mount a file system.
    package static let isPossible = (try? SmallDisk(bytes: 4096)) != nil

    private let folder: TemporaryFolder
    package var url: URL { folder.url }

    package init(bytes: Int) throws {
        folder = try TemporaryFolder()
        try Self.run("mount", "-t", "tmpfs", "-o", "size=\(bytes)", "tmpfs", folder.url.path)
    }

    deinit { try? Self.run("umount", "--lazy", folder.url.path) }

    package func turnReadOnly() throws { try Self.run("mount", "-o", "remount,ro", folder.url.path) }

    /// Makes the disk read-only for files that are opened from now on. Open files stay writable.
    package func forbidWriting() throws {
        try Self.run("mount", "--bind", folder.url.path, folder.url.path)
        try Self.run("mount", "-o", "remount,ro,bind", folder.url.path)
    }

    /// Undoes ``forbidWriting()``.
    package func allowWriting() throws { try Self.run("umount", folder.url.path) }

    /// Fills the disk to the last byte.
    package func fill() throws {
        _ = FileManager.default.createFile(atPath: folder.path("filler"), contents: nil)
        let filler = try FileHandle(forWritingTo: folder.url.appendingPathComponent("filler"))
        defer { try? filler.close() }
        while (try? filler.write(contentsOf: Data(repeating: 0, count: 512))) != nil {}
    }

    /// Removes the file that fills the disk. The file is truncated first, because a process that another test is starting may
    /// still have it open.
    package func makeRoom() throws {
        let filler = folder.url.appendingPathComponent("filler")
        let handle = try FileHandle(forWritingTo: filler)
        try handle.truncate(atOffset: 0)
        try handle.close()
        try FileManager.default.removeItem(at: filler)
    }

    private static func run(_ command: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure() }
    }
}
