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

/// The file has the resource's own keys, as older versions had them alone, and three beside them.
extension OutboxOwner: Codable {
    private enum Key: CodingKey {
        case destination
        case endpoints
        case attributes
    }

    init(from decoder: any Decoder) throws {
        resource = try TelemetryResource(from: decoder)
        let container = try decoder.container(keyedBy: Key.self)
        resource.attributes = try container.decodeIfPresent([String: String].self, forKey: .attributes) ?? [:]
        destination = try container.decodeIfPresent(UploadDestination.self, forKey: .destination)
        endpoints = try container.decodeIfPresent([String].self, forKey: .endpoints)
    }

    func encode(to encoder: any Encoder) throws {
        try resource.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(resource.attributes, forKey: .attributes)
        try container.encodeIfPresent(destination, forKey: .destination)
        try container.encodeIfPresent(endpoints, forKey: .endpoints)
    }
}
