import Foundation

extension Outbox {
    mutating func keep(_ owner: OutboxOwner) throws {
        let bytes = try JSONEncoder().encode(owner)
        try WholeFile.replaceUnsynced(path(Self.ownerFileName), with: Array(bytes))
        isOwnerSynced = false
    }

    /// Has the owner's file last through a power cut, with the next sync of the directory.
    mutating func syncOwner() throws(WholeFile.Failure) {
        guard !isOwnerSynced else { return }
        try WholeFile.sync(file: path(Self.ownerFileName))
        isOwnerSynced = true
    }

    /// The owner that was kept, or `nil`. Throws if it cannot be read or decoded.
    var owner: OutboxOwner? {
        get throws {
            let path = path(Self.ownerFileName)
            if Self.isMissing(path) { return nil }
            return try JSONDecoder().decode(OutboxOwner.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    /// Returns the addresses of two lists of collectors: of the one that the batches were recorded for, `nil` if it cannot be
    /// read or was not kept, and of the one that a process with this configuration sends them to, `nil` if it does not. A
    /// version that kept no address had one collector for a service's name, so its batches go to the configuration's.
    func addresses(for configuration: MartletConfiguration) -> (recorded: [URL]?, present: [URL]?) {
        do {
            guard let destination = try owner?.destination else { return (nil, configuration.collectors) }
            return (destination.collectors, destination.addresses(for: configuration))
        } catch {
            return (nil, nil)
        }
    }
}
