import MartletStorage

/// All requests from one place to another under one host, to one system. Its JSON is a fixed format; an unknown figure is left out.
package struct CallEdge: Sendable, Equatable, Codable {
    package var caller: MapPlace
    package var callee: MapPlace
    /// The host that was called. If the callers are unknown, the host under which the callee served.
    package var host: String
    /// The hosts under which the callee counted the requests. Behind a proxy they differ from ``host``.
    package var servedHosts: [String]
    /// The called system, such as `postgresql`. `nil` for HTTP.
    package var system: String?
    /// Whether the callee was identified only by observed calls, because it serves under another host.
    package var comesFromSpans = false
    /// The requests as the caller counted them; `nil` if it has no agent.
    package var sent: CallFigures?
    /// Sent requests that reached no server, because the connection failed.
    package var lost: UInt64?
    /// The errors of the lost requests, sorted by name.
    package var lostErrors: [String]?
    /// Sent requests without a response that may have arrived: they were reset, timed out, hung or were cancelled. For a system,
    /// all failed requests: their errors do not show whether there was a response.
    package var unanswered: UInt64?
    /// The requests as the callee counted them; `nil` if it has no agent. The count includes all callers of its hosts.
    package var arrived: CallFigures?
    /// The number of edges whose requests ``arrived`` includes; `nil` if one end has no agent.
    package var sharedBy: Int?
    /// The requests that the callers of all these edges sent; `nil` if one end has no agent.
    package var sentByAll: UInt64?
    /// Requests that arrived but that none of these callers sent: they come from callers without an agent, or counts are
    /// missing. 0 if they are few enough to be an effect of the window's ends; `nil` if one end has no agent.
    package var fromOutside: UInt64?
    /// Requests that the caller got a response to but the callee did not count: a proxy answered, a process has no agent, or its
    /// counts are missing. 0 if they are few enough to be an effect of the window's ends. `nil` unless both ends have agents, the
    /// callee's sends metrics, and no other edge shares ``arrived``.
    package var uncounted: UInt64?

    private enum CodingKeys: String, CodingKey {
        case caller, callee, host, system, sent, lost, unanswered, arrived, uncounted
        case servedHosts = "served_hosts"
        case comesFromSpans = "is_of_spans"
        case lostErrors = "lost_errors"
        case sharedBy = "shared_by"
        case sentByAll = "sent_by_all"
        case fromOutside = "from_outside"
    }

    /// The caller's figures, or the callee's if the caller's are unknown.
    private var main: CallFigures? { sent ?? arrived }

    package var count: UInt64 { main?.count ?? 0 }

    package var failureRate: Double { main?.failures.rate ?? 0 }

    /// Whether failures or losses are high enough for the colour of failures.
    package var isFailing: Bool { (lost ?? 0) > 0 || failureRate >= Self.failing }

    package static let failing = 0.05

    /// Whether ``arrived`` includes the requests of other edges.
    package var isShared: Bool { (sharedBy ?? 1) > 1 }

    /// The most hosts that a sentence names.
    private static let maxNamed = 3

    /// The served hosts in readable form, if they differ from the called one.
    package var otherHosts: String? {
        let others = servedHosts.filter { !$0.isEmpty && $0 != host }
        return others.isEmpty ? nil : NameList.text(others, atMost: Self.maxNamed)
    }
}

extension CallEdge {
    /// Returns the value of the filter by system that selects the edge's requests: empty for HTTP. `nil` if no filter is needed.
    ///
    /// - Parameter hosts: see ``MapReport/hostsOfSystems``.
    package func systemFilter(_ hosts: Set<String>) -> String? { system ?? (hosts.contains(host) ? "" : nil) }
}

/// An end of an edge of the map. In JSON it is `{"service": …}`, `{"host": …}`, or `null` for callers without an agent.
/// The host of a system also has a `system`.
package enum MapPlace: Sendable, Hashable {
    /// Callers without an agent.
    case outside
    case service(String)
    /// A host that is not served by exactly one known service, and its system, such as `postgresql`: `nil` for HTTP.
    case host(String, system: String? = nil)

    /// The name in readable form.
    package var name: String {
        switch self {
        case .outside: "Callers outside"
        case .service(let name): name
        case .host(let name, let system): HostName.text(name, system: system)
        }
    }

    package var service: String? {
        if case .service(let name) = self { return name }
        return nil
    }

    var host: String? {
        if case .host(let name, _) = self { return name }
        return nil
    }

    var system: String? {
        if case .host(_, let system) = self { return system }
        return nil
    }
}

extension MapPlace: Comparable {
    package static func < (one: MapPlace, other: MapPlace) -> Bool {
        (one.rank, one.name, one.system ?? "") < (other.rank, other.name, other.system ?? "")
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
        case service, host, system
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
            self = .host(
                try container.decode(String.self, forKey: .host),
                system: try container.decodeIfPresent(String.self, forKey: .system))
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
        try container.encodeIfPresent(system, forKey: .system)
    }
}

/// The requests of an edge as counted by one of its ends.
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
