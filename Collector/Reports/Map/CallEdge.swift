import MartletStorage

/// All requests from one place to another as one host. Its JSON is a fixed format, in which a figure that is not known is left out.
package struct CallEdge: Sendable, Equatable, Codable {
    package var caller: MapPlace
    package var callee: MapPlace
    /// The host that was called or, if the callers are not known, the host that was served.
    package var host: String
    /// The hosts as which the callee counted the requests. They differ from ``host`` behind a proxy.
    package var servedHosts: [String]
    /// Whether only observed calls tell the callee: its host is another.
    package var isOfSpans = false
    /// The requests as the caller counted them; `nil` if it has no agent.
    package var sent: CallFigures?
    /// Sent requests that reached no server, because no connection to one was made.
    package var lost: UInt64?
    /// The errors of the lost requests, in the order of their names.
    package var lostErrors: [String]?
    /// Sent requests without an answer that may have arrived: they were reset, timed out, hung or were cancelled.
    package var unanswered: UInt64?
    /// The requests as the callee counted them; `nil` if it has no agent. It counts all callers of its hosts together.
    package var arrived: CallFigures?
    /// The edges whose requests ``arrived`` has together; `nil` if one end has no agent.
    package var sharedBy: Int?
    /// The requests that the callers of these edges sent; `nil` if one end has no agent.
    package var sentByAll: UInt64?
    /// Requests that arrived and that none of these callers sent: their callers have no agent, or their counts are missing. 0 if they
    /// are few enough to lie at the window's ends; `nil` if one end has no agent.
    package var fromOutside: UInt64?
    /// Requests that the caller had an answer to and the callee did not count: a proxy answered, a process has no agent, or its counts
    /// are missing. 0 if they are few enough to lie at the window's ends. `nil` unless both ends have agents, the callee's sends
    /// metrics, and no other edge shares ``arrived``.
    package var uncounted: UInt64?

    private enum CodingKeys: String, CodingKey {
        case caller, callee, host, sent, lost, unanswered, arrived, uncounted
        case servedHosts = "served_hosts"
        case isOfSpans = "is_of_spans"
        case lostErrors = "lost_errors"
        case sharedBy = "shared_by"
        case sentByAll = "sent_by_all"
        case fromOutside = "from_outside"
    }

    /// The figures of the caller or, if it is not known, of the callee.
    private var main: CallFigures? { sent ?? arrived }

    package var count: UInt64 { main?.count ?? 0 }

    package var failureRate: Double { main?.failures.rate ?? 0 }

    /// Whether failures or losses are worth the colour of failures.
    package var isFailing: Bool { (lost ?? 0) > 0 || failureRate >= Self.failing }

    package static let failing = 0.05

    /// Whether ``arrived`` has the requests of other edges as well.
    package var isShared: Bool { (sharedBy ?? 1) > 1 }

    /// Served hosts that a sentence names at most.
    private static let maxNamed = 3

    /// The served hosts as they are read, if they differ from the called one.
    package var otherHosts: String? {
        let others = servedHosts.filter { !$0.isEmpty && $0 != host }
        return others.isEmpty ? nil : NameList.text(others, atMost: Self.maxNamed)
    }
}

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

/// The requests of an edge as one of its ends counted them.
package struct CallFigures: Sendable, Equatable, Codable {
    package var count: UInt64
    package var perSecond: Double
    package var failures: RequestMeasures.Failures
    /// Milliseconds.
    package var latency: RequestMeasures.Latency

    private enum CodingKeys: String, CodingKey {
        case count, failures
        case perSecond = "per_second"
        case latency = "latency_ms"
    }

    /// - Parameter seconds: the length of the window.
    init(_ group: RequestGroup, seconds: Double) {
        let measures = group.measures(seconds: seconds)
        (count, perSecond) = (measures.count, measures.perSecond)
        (failures, latency) = (measures.failures, measures.latency)
    }
}
