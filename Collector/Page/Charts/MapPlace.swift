/// A place of the map.
enum MapPlace: Sendable, Hashable {
    /// Callers without an agent.
    case outside
    case service(String)
    /// A host that no known service serves alone.
    case host(String)

    /// The name as it is read.
    var name: String {
        switch self {
        case .outside: "Callers outside"
        case .service(let name): name
        case .host(let name): HostName.text(name)
        }
    }

    var service: String? {
        if case .service(let name) = self { return name }
        return nil
    }
}

extension MapPlace: Comparable {
    static func < (one: MapPlace, other: MapPlace) -> Bool {
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
