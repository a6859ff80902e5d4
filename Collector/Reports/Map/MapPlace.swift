/// An end of an edge of the map. In JSON it is `{"service": …}`, `{"host": …}`, or `null` for callers without an agent.
package enum MapPlace: Sendable, Hashable {
    /// Callers without an agent.
    case outside
    case service(String)
    /// A host that no known service serves alone.
    case host(String)

    /// The name as it is read.
    package var name: String {
        switch self {
        case .outside: "Callers outside"
        case .service(let name): name
        case .host(let name): HostName.text(name)
        }
    }

    package var service: String? {
        if case .service(let name) = self { return name }
        return nil
    }

    var host: String? {
        if case .host(let name) = self { return name }
        return nil
    }
}

extension MapPlace: Comparable {
    package static func < (one: MapPlace, other: MapPlace) -> Bool {
        one.rank != other.rank ? one.rank < other.rank : one.name < other.name
    }

    private var rank: Int {
        switch self {
        case .outside: 0
        case .service: 1
        case .host: 2
        }
    }
}

extension MapPlace: Codable {
    private enum CodingKeys: String, CodingKey {
        case service, host
    }

    package init(from decoder: any Decoder) throws {
        if try decoder.singleValueContainer().decodeNil() {
            self = .outside
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let service = try container.decodeIfPresent(String.self, forKey: .service) {
            self = .service(service)
        } else {
            self = .host(try container.decode(String.self, forKey: .host))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        guard self != .outside else {
            var container = encoder.singleValueContainer()
            return try container.encodeNil()
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(service, forKey: .service)
        try container.encodeIfPresent(host, forKey: .host)
    }
}
