import Foundation
import MartletTelemetry

/// The facts about a process that are neither in its journal nor in its batches. The process is perhaps dead when they are
/// read.
struct OutboxOwner: Equatable, Sendable {
    /// The resource of the process that recorded.
    var resource: TelemetryResource
    /// `nil` if the process's version did not keep it.
    var destination: UploadDestination?
    /// The templates that name endpoints, `MARTLET_ENDPOINTS`; `nil` if the process's version did not keep them.
    var endpoints: [String]?

    init(_ resource: TelemetryResource, _ configuration: MartletConfiguration) {
        self.resource = resource
        destination = UploadDestination(configuration)
        endpoints = configuration.endpoints
    }
}

/// The file has the resource's own keys, as older versions had them alone, and two beside them.
extension OutboxOwner: Codable {
    private enum Key: CodingKey {
        case destination
        case endpoints
    }

    init(from decoder: any Decoder) throws {
        resource = try TelemetryResource(from: decoder)
        let container = try decoder.container(keyedBy: Key.self)
        destination = try container.decodeIfPresent(UploadDestination.self, forKey: .destination)
        endpoints = try container.decodeIfPresent([String].self, forKey: .endpoints)
    }

    func encode(to encoder: any Encoder) throws {
        try resource.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(destination, forKey: .destination)
        try container.encodeIfPresent(endpoints, forKey: .endpoints)
    }
}

extension Outbox {
    func keep(_ owner: OutboxOwner) throws {
        let bytes = try JSONEncoder().encode(owner)
        try WholeFile.replace(path(Self.ownerFileName), with: Array(bytes), in: directory.path)
    }

    /// The owner that was kept, or `nil`. Throws if it cannot be read or decoded.
    var owner: OutboxOwner? {
        get throws {
            let path = path(Self.ownerFileName)
            if Self.isMissing(path) { return nil }
            return try JSONDecoder().decode(OutboxOwner.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    /// Returns two addresses: the one that the batches were recorded for, `nil` if it cannot be read or was not kept, and the
    /// one that a process with this configuration sends them to, `nil` if it does not. A version that kept no address had one
    /// collector for a service's name, so its batches go to the configuration's endpoint.
    func addresses(for configuration: MartletConfiguration) -> (recorded: URL?, present: URL?) {
        do {
            guard let destination = try owner?.destination else { return (nil, configuration.collector) }
            return (destination.collector, destination.address(for: configuration))
        } catch {
            return (nil, nil)
        }
    }
}
