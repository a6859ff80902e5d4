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

    /// Rows, unless the address asks for more.
    private static let maxHosts = 20

    /// The hosts on which the most time was spent.
    let hosts: [Host]
    let count: Int

    /// - Parameters:
    ///   - answer: groups by host and service.
    ///   - wanted: the rows that the address asks for; `nil` if it asks for no number.
    init(_ answer: StatisticsAnswer, wanted: Int?) {
        var (groups, services) = ([String: RequestGroup](), [String: Set<String>]())
        for group in answer.groups {
            let host = (group.values.first ?? nil) ?? ""
            groups[host, default: RequestGroup(values: [host])].merge(group)
            services[host, default: []].insert((group.values.last ?? nil) ?? "")
        }
        count = groups.count
        hosts = GroupOrder().first(max(Self.maxHosts, wanted ?? 0), of: Array(groups.values)).map { group in
            let name = (group.values.first ?? nil) ?? ""
            return Host(
                name: name, services: (services[name] ?? []).sorted(),
                measures: group.measures(seconds: answer.ratedWindow.seconds))
        }
    }
}
