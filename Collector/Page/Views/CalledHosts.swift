import MartletReports
import MartletStorage
import MartletTelemetry

/// The hosts that requests were made to.
struct CalledHosts: Sendable {
    struct Host: Sendable {
        var name: String
        var services: [String]
        var measures: RequestMeasures
    }

    /// Rows at most; the endpoints below have the others.
    static let maxHosts = 20

    /// The hosts on which the most time was spent.
    let hosts: [Host]
    let count: Int

    /// - Throws: ``TooManyGroups``, or the store's error.
    init(_ visit: Visit, in storage: some Storage) async throws {
        var filter = visit.filter
        filter.removeAll(.kind)
        filter.select(.kind, RequestKind.client.rawValue)
        let answer = try await storage.statistics(
            StatisticsQuery(window: visit.window, filter: filter, by: [.host, .service]))
        var (groups, services) = ([String: RequestGroup](), [String: Set<String>]())
        for group in answer.groups {
            let host = (group.values.first ?? nil) ?? ""
            groups[host, default: RequestGroup(values: [host])].merge(group)
            services[host, default: []].insert((group.values.last ?? nil) ?? "")
        }
        count = groups.count
        hosts = GroupOrder().first(Self.maxHosts, of: Array(groups.values)).map { group in
            let name = (group.values.first ?? nil) ?? ""
            return Host(
                name: name, services: (services[name] ?? []).sorted(),
                measures: group.measures(seconds: answer.window.seconds))
        }
    }
}
