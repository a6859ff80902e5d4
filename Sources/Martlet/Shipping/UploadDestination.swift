import Foundation

/// The destination of a process's batches, as it is written beside them: the addresses of its collectors, and a digest of the
/// credentials. The digest tells the same credentials from others and does not reveal them.
///
/// Two services may share a name and a directory without knowing of each other. So batches that were recorded for one
/// destination are sent to no other, unless `MARTLET_BUFFER_ADOPT` says that both are the same.
struct UploadDestination: Codable, Equatable, Sendable {
    /// The collectors' addresses in a fixed order, without user and password.
    let collectors: [URL]
    private let salt: String
    private let credentials: String

    /// - Parameter salt: gives the same token another digest in the next process.
    init(_ configuration: MartletConfiguration, salt: String = UUID().uuidString) {
        self.salt = salt
        collectors = Self.plain(configuration.collectors)
        credentials = Self.digest(of: configuration, for: collectors, salt: salt)
    }

    /// Returns the addresses to which a process with this configuration sends batches of the destination; `nil` if it lacks
    /// the credentials, which go to no address that they were not meant for.
    func addresses(for configuration: MartletConfiguration) -> [URL]? {
        let adopted = Self.plain(configuration.bufferAdopt)
        if !collectors.isEmpty, collectors.allSatisfy(adopted.contains) { return configuration.collectors }
        guard Self.digest(of: configuration, for: collectors, salt: salt) == credentials else { return nil }
        return collectors == Self.plain(configuration.collectors) ? configuration.collectors : collectors
    }

    /// Returns the digest of the credentials. It covers the addresses, so that another address beside it does not get the
    /// token. Any header field may be a credential, or name the customer. User and password belong to their own address, and
    /// a client's certificate to its path: it may be renewed there.
    private static func digest(of configuration: MartletConfiguration, for collectors: [URL], salt: String) -> String {
        let withUser = configuration.collectors.filter { $0.user != nil || $0.password != nil }
        var parts = [salt]
        parts += collectors.map(\.absoluteString)
        parts.append(configuration.token ?? "")
        parts.append(withUser.map(\.absoluteString).sorted().joined(separator: ","))
        parts.append(configuration.clientCertificate?.path ?? "")
        parts += configuration.headers.map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        // Each part has its length ahead of it, so that no two lists read alike.
        return SHA256.hexadecimal(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }

    private static func plain(_ collectors: [URL]) -> [URL] {
        Set(collectors.map(CollectorAddress.plain)).sorted { $0.absoluteString < $1.absoluteString }
    }
}
