import Foundation

/// Where a process's batches go, as it stands beside them: the collector's address, and a digest of the credentials, which
/// tells the same ones from others and from which they cannot be had back.
///
/// Two services may share a name and a folder, and be none of each other's business. So what was recorded for one
/// destination is sent to no other, unless somebody says that it is the same (`MARTLET_BUFFER_ADOPT`).
struct UploadDestination: Codable, Equatable, Sendable {
    /// Without user and password.
    let endpoint: URL
    private let salt: String
    private let credentials: String

    /// - Parameter salt: so that the same token has another digest in the next process.
    init(_ configuration: MartletConfiguration, salt: String = UUID().uuidString) {
        self.salt = salt
        endpoint = Self.plain(configuration.endpoint)
        credentials = Self.digest(of: configuration, for: endpoint, salt: salt)
    }

    /// Where a process with this configuration sends what has the destination; `nil` where it lacks the credentials, which
    /// go to no address that they were not meant for.
    func address(for configuration: MartletConfiguration) -> URL? {
        if configuration.bufferAdopt.contains(where: { Self.plain($0) == endpoint }) { return configuration.endpoint }
        guard Self.digest(of: configuration, for: endpoint, salt: salt) == credentials else { return nil }
        return endpoint == Self.plain(configuration.endpoint) ? configuration.endpoint : endpoint
    }

    /// The address is in it, so that no other can be put beside it to get the token. User and password belong to theirs, and a
    /// client's certificate to its path: it may be renewed there.
    private static func digest(of configuration: MartletConfiguration, for endpoint: URL, salt: String) -> String {
        let hasUser = configuration.endpoint.user != nil || configuration.endpoint.password != nil
        let parts = [
            salt, endpoint.absoluteString, configuration.token ?? "",
            hasUser ? configuration.endpoint.absoluteString : "",
            configuration.clientCertificate?.path ?? "",
        ]
        // A length ahead of each part, so that no two lists read alike.
        return SHA256.hexadecimal(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }

    private static func plain(_ endpoint: URL) -> URL {
        guard var parts = URLComponents(url: endpoint, resolvingAgainstBaseURL: true) else { return endpoint }
        parts.user = nil
        parts.password = nil
        while parts.path.hasSuffix("/") { parts.path.removeLast() }
        return parts.url ?? endpoint
    }
}
