import Foundation

/// The destination of a process's batches, as it is written beside them: the collector's address, and a digest of the
/// credentials. The digest tells the same credentials from others and does not reveal them.
///
/// Two services may share a name and a directory without knowing of each other. So batches that were recorded for one
/// destination are sent to no other, unless `MARTLET_BUFFER_ADOPT` says that both are the same.
struct UploadDestination: Codable, Equatable, Sendable {
    /// The collector's address, without user and password.
    let collector: URL
    private let salt: String
    private let credentials: String

    /// - Parameter salt: gives the same token another digest in the next process.
    init(_ configuration: MartletConfiguration, salt: String = UUID().uuidString) {
        self.salt = salt
        collector = Self.plain(configuration.collector)
        credentials = Self.digest(of: configuration, for: collector, salt: salt)
    }

    /// Returns the address to which a process with this configuration sends batches of the destination; `nil` if it lacks the
    /// credentials, which go to no address that they were not meant for.
    func address(for configuration: MartletConfiguration) -> URL? {
        if configuration.bufferAdopt.contains(where: { Self.plain($0) == collector }) { return configuration.collector }
        guard Self.digest(of: configuration, for: collector, salt: salt) == credentials else { return nil }
        return collector == Self.plain(configuration.collector) ? configuration.collector : collector
    }

    /// Returns the digest of the credentials. It covers the address, so that another address beside it does not get the
    /// token. User and password belong to their own address, and a client's certificate to its path: it may be renewed there.
    private static func digest(of configuration: MartletConfiguration, for collector: URL, salt: String) -> String {
        let hasUser = configuration.collector.user != nil || configuration.collector.password != nil
        let parts = [
            salt, collector.absoluteString, configuration.token ?? "",
            hasUser ? configuration.collector.absoluteString : "",
            configuration.clientCertificate?.path ?? "",
        ]
        // Each part has its length ahead of it, so that no two lists read alike.
        return SHA256.hexadecimal(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }

    private static func plain(_ collector: URL) -> URL {
        guard var parts = URLComponents(url: collector, resolvingAgainstBaseURL: true) else { return collector }
        parts.user = nil
        parts.password = nil
        while parts.path.hasSuffix("/") { parts.path.removeLast() }
        return parts.url ?? collector
    }
}
