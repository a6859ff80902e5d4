import Foundation
import MartletTelemetry

/// The facts about a process that are neither in its journal nor in its batches. They may be read after its death.
struct OutboxOwner: Equatable, Sendable {
    /// The resource of the process that recorded the requests.
    var resource: TelemetryResource
    var destination: UploadDestination
    /// The templates that name endpoints, `MARTLET_ENDPOINTS`.
    var endpoints: [String]

    init(_ resource: TelemetryResource, _ configuration: MartletConfiguration) {
        self.resource = resource
        destination = UploadDestination(configuration)
        endpoints = configuration.endpoints
    }
}

/// The file has the resource's own keys, and three more.
extension OutboxOwner: Codable {
    private enum Key: CodingKey {
        case destination
        case endpoints
        case attributes
    }

    init(from decoder: any Decoder) throws {
        resource = try TelemetryResource(from: decoder)
        let container = try decoder.container(keyedBy: Key.self)
        resource.attributes = try container.decode([String: String].self, forKey: .attributes)
        destination = try container.decode(UploadDestination.self, forKey: .destination)
        endpoints = try container.decode([String].self, forKey: .endpoints)
    }

    func encode(to encoder: any Encoder) throws {
        try resource.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(resource.attributes, forKey: .attributes)
        try container.encode(destination, forKey: .destination)
        try container.encode(endpoints, forKey: .endpoints)
    }
}

/// The destination of a process's batches, stored in their directory: the addresses of its collectors, and a digest of
/// the credentials. The digest shows whether two credentials are equal without revealing them.
///
/// Two services may share a name and a directory without knowing it. So batches that were recorded for one destination
/// are not sent to another, unless `MARTLET_BUFFER_ADOPT` says that both are the same.
struct UploadDestination: Codable, Equatable, Sendable {
    /// The collectors' addresses in a fixed order, without user and password.
    let collectors: [URL]
    private let salt: String
    private let credentials: String

    /// - Parameter salt: makes the digest of the same token different in each process.
    init(_ configuration: MartletConfiguration, salt: String = UUID().uuidString) {
        self.salt = salt
        collectors = Self.plain(configuration.collectors)
        credentials = Self.digest(of: configuration, for: collectors, salt: salt)
    }

    /// Returns the addresses to which a process with this configuration sends batches of the destination. `nil` if the
    /// configuration lacks the batches' credentials.
    func addresses(for configuration: MartletConfiguration) -> [URL]? {
        let adopted = Self.plain(configuration.bufferAdopt)
        if !collectors.isEmpty, collectors.allSatisfy(adopted.contains) { return configuration.collectors }
        guard Self.digest(of: configuration, for: collectors, salt: salt) == credentials else { return nil }
        return collectors == Self.plain(configuration.collectors) ? configuration.collectors : collectors
    }

    /// Returns the digest of the credentials. It covers the addresses, so that an address that someone adds to the file
    /// does not get the token. Any header field may be a credential, or name the customer. User and password belong to
    /// their address. A client's certificate is identified by its path, because it may be renewed there.
    private static func digest(of configuration: MartletConfiguration, for collectors: [URL], salt: String) -> String {
        let withUser = configuration.collectors.filter { $0.user != nil || $0.password != nil }
        var parts = [salt]
        parts += collectors.map(\.absoluteString)
        parts.append(configuration.token ?? "")
        parts.append(withUser.map(\.absoluteString).sorted().joined(separator: ","))
        parts.append(configuration.clientCertificate?.path ?? "")
        parts += configuration.headers.map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        // Each part is preceded by its length, so that no two lists give the same text.
        return SHA256.hexadecimal(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }

    private static func plain(_ collectors: [URL]) -> [URL] {
        Set(collectors.map(CollectorAddress.plain)).sorted { $0.absoluteString < $1.absoluteString }
    }
}

extension Outbox {
    mutating func keep(_ owner: OutboxOwner) throws {
        let bytes = try JSONEncoder().encode(owner)
        try WholeFile.replaceUnsynced(path(Self.ownerFileName), with: Array(bytes))
        isOwnerSynced = false
    }

    /// Makes the owner's file survive a power cut, with the next sync of the directory.
    mutating func syncOwner() throws(WholeFile.Failure) {
        guard !isOwnerSynced else { return }
        try WholeFile.sync(file: path(Self.ownerFileName))
        isOwnerSynced = true
    }

    /// The stored owner, or `nil`. Throws if it cannot be read or decoded.
    var owner: OutboxOwner? {
        get throws {
            let path = path(Self.ownerFileName)
            if Self.isMissing(path) { return nil }
            return try JSONDecoder().decode(OutboxOwner.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    /// Returns two lists of collectors' addresses. `recorded` are those that the batches were recorded for; `nil` if
    /// they are missing or cannot be read. `present` are those to which a process with this configuration sends the
    /// batches; `nil` if it does not send them. Batches without an owner's file go to the configuration's collectors.
    func addresses(for configuration: MartletConfiguration) -> (recorded: [URL]?, present: [URL]?) {
        do {
            guard let destination = try owner?.destination else { return (nil, configuration.collectors) }
            return (destination.collectors, destination.addresses(for: configuration))
        } catch {
            return (nil, nil)
        }
    }
}
