import Fixtures
import Foundation
import Testing

/// A small file system that simulates a full or unwritable disk.
final class Mount: Sendable {
    /// Whether this process may mount a file system: only root may, and a container may forbid it even to root.
    static let isAllowed = SmallDisk.isPossible

    let url: URL

    private init(_ url: URL) { self.url = url }

    /// Mounts the file system while `body` runs.
    static func run(
        in scene: Scene, mebibytes: Int = 64, inodes: Int = 2000, _ body: (Mount) async throws -> Void
    ) async throws {
        let mount = Mount(scene.folder.url.appendingPathComponent("mount"))
        try FileManager.default.createDirectory(at: mount.url, withIntermediateDirectories: true)
        #expect(
            MountCommand.run(
                "mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m,nr_inodes=\(inodes)", "tmpfs", mount.url.path)
        )
        do {
            try await body(mount)
        } catch {
            Issue.record(error, "\(scene.seed)")
        }
        mount.makeWritable()
        #expect(MountCommand.run("umount", mount.url.path))
    }

    var buffer: URL { url.appendingPathComponent("buffer") }

    /// Fills the disk to the last byte, until ``empty()``.
    func fill() throws {
        try Data().write(to: filler)
        let handle = try FileHandle(forWritingTo: filler)
        defer { try? handle.close() }
        for size in [1 << 20, 1 << 12, 1] {
            let piece = Data(count: size)
            while (try? handle.write(contentsOf: piece)) != nil {}
        }
    }

    func empty() { try? FileManager.default.removeItem(at: filler) }

    /// Uses up the inodes until ``empty()``, so that no file can be created although there is room.
    func useUpInodes() throws {
        try FileManager.default.createDirectory(at: filler, withIntermediateDirectories: true)
        for number in 0... {
            let descriptor = open(filler.appendingPathComponent("\(number)").path, O_CREAT | O_WRONLY, 0o600)
            guard descriptor >= 0 else { return }
            close(descriptor)
        }
    }

    /// Makes the disk read-only for files opened from now on, as after a disk error. Open files stay writable.
    func makeReadOnly() {
        #expect(MountCommand.run("mount", "--bind", url.path, url.path))
        #expect(MountCommand.run("mount", "-o", "remount,ro,bind", url.path))
    }

    /// Undoes ``makeReadOnly()``; does nothing if the disk is writable.
    func makeWritable() {
        if access(url.path, W_OK) != 0 { #expect(MountCommand.run("umount", url.path)) }
    }

    private var filler: URL { url.appendingPathComponent("filler") }
}

/// Runs `mount` and `umount`, which take only a moment.
private enum MountCommand {
    static func run(_ command: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}
