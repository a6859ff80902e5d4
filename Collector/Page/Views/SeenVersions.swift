import MartletStorage
import MartletTelemetry

/// The versions of services, and when the collector saw them, by its own clock.
struct SeenVersions: Sendable {
    struct Times: Sendable, Equatable {
        var first: UnixNanoseconds
        var last: UnixNanoseconds
    }

    private var services: [String: [String: Times]] = [:]

    init(_ agents: [AgentRecord]) {
        for agent in agents {
            guard let version = agent.resource.version, !version.isEmpty else { continue }
            services[agent.resource.service, default: [:]][version, default: Times(agent)].add(Times(agent))
        }
    }

    /// Returns the versions of a service in the order in which they were first seen.
    func versions(of service: String) -> [(name: String, times: Times)] {
        (services[service] ?? [:]).sorted { ($0.value.first, $0.key) < ($1.value.first, $1.key) }
            .map { ($0.key, $0.value) }
    }

    func times(of service: String, _ version: String) -> Times? { services[service]?[version] }

    /// Returns when a version was first seen, if that is in the window. Also returns `nil` if no version of the service was
    /// seen before the window: then the collector or the service is new.
    func firstSeen(_ service: String, _ version: String, in window: TimeWindow) -> UnixNanoseconds? {
        guard let versions = services[service], versions.values.contains(where: { $0.first <= window.from }),
            let first = versions[version]?.first, first > window.from, first <= window.to
        else { return nil }
        return first
    }
}

extension SeenVersions.Times {
    fileprivate init(_ agent: AgentRecord) { self.init(first: agent.firstSeen, last: agent.lastSeen) }

    fileprivate mutating func add(_ other: Self) {
        (first, last) = (min(first, other.first), max(last, other.last))
    }
}
