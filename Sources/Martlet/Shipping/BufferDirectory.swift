import Foundation

/// The directory in which a service's batches wait.
///
///     <buffer>/<service>/<instance>.lock     held by the process as long as it lives
///     <buffer>/<service>/<instance>/         its batches; only the holder of the lock writes and uploads them
///
/// A directory is created only after its lock is held, so a directory whose lock is free belongs to a dead process. A
/// directory without a lock does not belong to Martlet.
enum BufferDirectory {
    /// Returns the directories to try, the preferred one first. The last is the temporary directory. If that cannot be
    /// written either, batches wait in memory.
    static func candidates(for configuration: MartletConfiguration, environment: [String: String]) -> [URL] {
        let service = component(configuration.serviceName)
        let preferred = (configuration.bufferDirectory ?? state(environment))?
            .appendingPathComponent(service, isDirectory: true)
        // The directory is directly below, so that no other user can move it after ``create(_:)`` has checked its
        // owner.
        let temporary = URL(fileURLWithPath: NSTemporaryDirectory())
            .appendingPathComponent("martlet-\(getuid())-\(service)", isDirectory: true)
        return [preferred, temporary].compactMap(\.self)
    }

    /// Returns a directory in the state directory that systemd made for the service (`systemd.exec(5)`, StateDirectory=), or
    /// in that of the XDG Base Directory Specification; `nil` if the environment names none.
    private static func state(_ environment: [String: String]) -> URL? {
        // systemd separates several directories by colons.
        let systemd = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        if let state = [systemd, environment["XDG_STATE_HOME"]].compactMap(\.self).first(where: { $0.hasPrefix("/") }) {
            return URL(fileURLWithPath: state).appendingPathComponent("martlet")
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return URL(fileURLWithPath: home).appendingPathComponent(".local/state/martlet")
    }

    /// Returns any text as one path component. Percent-encodes everything except letters, digits, `-` and `_`.
    static func component(_ text: String) -> String {
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
        let encoded = text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return encoded.isEmpty ? "service" : String(encoded.prefix(200))
    }

    /// Creates a directory. Throws if it belongs to another user or others may write to it, because they could have
    /// planted its links and batches. Only a write can show whether an existing directory is writable.
    static func create(_ url: URL) throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard isOurs(url) else {
            throw WholeFile.Failure(
                operation: "the directory belongs to another user, or other users may write to it", code: EPERM)
        }
    }

    /// Returns the instances that have a lock, alive or dead, sorted. Ignores directories without a lock. Returns none
    /// if the service's directory does not belong to this user.
    static func instances(in serviceDirectory: URL) -> [String] {
        guard isOurs(serviceDirectory),
            let names = try? FileManager.default.contentsOfDirectory(atPath: serviceDirectory.path)
        else {
            return []
        }
        let instances = names.compactMap { name in
            name.hasSuffix(lockSuffix) ? String(name.dropLast(lockSuffix.count)) : nil
        }
        return instances.sorted()
    }

    static let lockSuffix = ".lock"

    private static func isOurs(_ url: URL) -> Bool {
        var status = stat()
        return stat(url.path, &status) == 0 && [0, geteuid()].contains(status.st_uid) && status.st_mode & S_IWOTH == 0
    }
}

/// The room that files take on the disk.
enum DiskUse {
    /// Returns the room of a file in bytes: its blocks, or its size if that is more. A file system may allocate the
    /// blocks later, or count none for a directory.
    static func bytes(_ status: stat) -> Int { max(Int(status.st_size), Int(status.st_blocks) * 512) }

    /// Returns the room of a file or of a directory without its files; 0 if it does not exist.
    static func bytes(at path: String) -> Int {
        var status = stat()
        return lstat(path, &status) == 0 ? bytes(status) : 0
    }
}

/// The directory for an outbox's damaged files, kept for inspection: the newest few, for some days.
struct Quarantine {
    let directory: URL

    init(outbox: URL) { directory = outbox.appendingPathComponent("quarantine", isDirectory: true) }

    /// Moves a file into quarantine, or removes it if that fails.
    func take(_ path: String, as name: String) {
        mkdir(directory.path, 0o700)
        if rename(path, directory.appendingPathComponent(name).path) != 0 { unlink(path) }
        for file in files().dropFirst(MartletLimits.quarantinedFiles) { unlink(file.path) }
    }

    /// Removes files that have been here for ``MartletLimits/quarantine``, and the directory if it is empty.
    func removeOld() {
        let limit = MartletLimits.quarantine.components.seconds
        for file in files() where time(nil) - file.arrived > limit { unlink(file.path) }
        rmdir(directory.path)
    }

    /// The room of the files on the disk, in bytes.
    var size: Int { files().reduce(0) { $0 + $1.size } }

    func removeAll() {
        for file in files() { unlink(file.path) }
        rmdir(directory.path)
    }

    /// Returns the files, the newest first.
    private func files() -> [(path: String, arrived: Int, size: Int)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        let files = names.compactMap { name -> (path: String, arrived: Int, size: Int)? in
            let path = directory.appendingPathComponent(name).path
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            return (path, status.statusChange.tv_sec, DiskUse.bytes(status))
        }
        return files.sorted { ($0.arrived, $0.path) > ($1.arrived, $1.path) }
    }
}
