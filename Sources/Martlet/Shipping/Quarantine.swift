import Foundation

/// The directory for an outbox's damaged files, for a person to look at: the newest few, for some days.
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

    /// The size of the files, in bytes.
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
            return (path, status.st_ctim.tv_sec, Int(status.st_size))
        }
        return files.sorted { ($0.arrived, $0.path) > ($1.arrived, $1.path) }
    }
}
