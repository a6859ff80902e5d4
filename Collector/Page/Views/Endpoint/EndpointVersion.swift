import MartletReports
import MartletStorage
import MartletTelemetry

/// The requests of one version of a service, on either side.
struct EndpointVersion: Sendable {
    let service: String
    let version: String
    /// Whether the service made the requests or served them.
    let kind: RequestKind
    let measures: RequestMeasures
    /// `nil` if the collector knows no such sender.
    let seen: SeenVersions.Times?
    /// The time at which the version was first seen, if it came in the window.
    let new: UnixNanoseconds?

    var name: String { version.isEmpty ? service : "\(service) \(version)" }

    /// Returns the versions of the side that is shown, and then those of the other.
    ///
    /// - Parameters:
    ///   - senders: groups by service, version and others.
    ///   - peers: the groups of the other side by service and version.
    static func all(
        of senders: StatisticsAnswer, _ kind: RequestKind, _ peers: StatisticsAnswer?, _ seen: SeenVersions
    ) -> [EndpointVersion] {
        rows(of: senders, kind, seen)
            + (peers.map { rows(of: $0, kind == .client ? .server : .client, seen) } ?? [])
    }

    private static func rows(
        of answer: StatisticsAnswer, _ kind: RequestKind, _ seen: SeenVersions
    ) -> [EndpointVersion] {
        var groups: [[String]: RequestGroup] = [:]
        for group in answer.groups {
            let name = group.values.prefix(2).map { $0 ?? "" }
            groups[name, default: RequestGroup(values: [])].merge(group)
        }
        let names = groups.keys.sorted { one, other in
            let first = [one, other].map { seen.times(of: $0[0], $0[1])?.first ?? 0 }
            guard one[0] == other[0], first[0] != first[1] else { return one.lexicographicallyPrecedes(other) }
            return first[0] < first[1]
        }
        return names.compactMap { name in
            groups[name].map { group in
                EndpointVersion(
                    service: name[0], version: name[1], kind: kind,
                    measures: group.measures(seconds: answer.ratedWindow.seconds),
                    seen: seen.times(of: name[0], name[1]),
                    new: seen.firstSeen(name[0], name[1], in: answer.window))
            }
        }
    }
}
