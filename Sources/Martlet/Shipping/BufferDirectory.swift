import Foundation

/// Where a service's batches wait.
///
///     <buffer>/<service>/<instance>.lock     held by the process as long as it lives
///     <buffer>/<service>/<instance>/         its batches; only the holder of the lock writes and uploads them
///
/// A directory appears only after its lock is held, so a directory whose lock is free belongs to a dead process. One without
/// a lock is not ours.
enum BufferDirectory {
    /// Directories to try, the preferred one first. The temporary directory is the last of them; where it cannot be written
    /// either, batches wait in memory.
    static func candidates(for configuration: MartletConfiguration, environment: [String: String]) -> [URL] {
        let service = component(configuration.serviceName)
        let preferred = (configuration.bufferDirectory ?? state(environment))?
            .appendingPathComponent(service, isDirectory: true)
        // Right below, so that nobody else can move what ``create(_:)`` found to be ours.
        let temporary = URL(fileURLWithPath: NSTemporaryDirectory())
            .appendingPathComponent("martlet-\(getuid())-\(service)", isDirectory: true)
        return [preferred, temporary].compactMap(\.self)
    }

    /// The XDG Base Directory Specification's place for state.
    private static func state(_ environment: [String: String]) -> URL? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            return URL(fileURLWithPath: state).appendingPathComponent("martlet")
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return URL(fileURLWithPath: home).appendingPathComponent(".local/state/martlet")
    }

    /// Any text as one path component: everything but letters, digits, `-` and `_` is percent-encoded.
    static func component(_ text: String) -> String {
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
        let encoded = text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return encoded.isEmpty ? "service" : String(encoded.prefix(200))
    }

    /// Throws where somebody else was first: in a directory that others may write, links and batches could be theirs. Whether
    /// one that is there can be written only a write can tell.
    static func create(_ url: URL) throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard isOurs(url) else {
            throw WholeFile.Failure(operation: "use a directory of somebody else's", code: EPERM)
        }
    }

    /// Instances that have a lock, alive or dead, sorted: a directory without one is not ours. None where the place is not ours.
    static func instances(in service: URL) -> [String] {
        guard isOurs(service), let names = try? FileManager.default.contentsOfDirectory(atPath: service.path) else {
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
