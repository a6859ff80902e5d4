import MartletStorage
import MartletTelemetry

/// The calls between services in a window.
package struct ServiceCalls: Sendable {
    /// Observed calls that are looked at for the callees behind proxies.
    private static let maxCalls = 5000

    package let report: MapReport
    /// The requests that each service served or, if it served none, made.
    package let services: [String: RequestMeasures]
    /// The requests that were made, by service and host.
    private let made: [[String?]: RequestGroup]
    private let seconds: Double

    /// - Throws: ``ParameterError`` if there are too many rows, or the store's error.
    package init(_ query: MapQuery, in storage: some Storage) async throws {
        // The other end of an edge may be of any service.
        var filter = query.filter
        filter.removeAll(.service)
        let answer = try await Self.answer(in: query.window, filter, storage)
        let calls = try await storage.calls(in: answer.window, filter, limit: Self.maxCalls)
        let wanted = query.filter.wanted[.service]
        seconds = answer.window.seconds
        let edges = CallGraph(answer.groups, calls, seconds: seconds).edges.filter { $0.touches(wanted) }
        let ends = Set(edges.flatMap { [$0.caller.service, $0.callee.service].compactMap(\.self) })
        if wanted != nil { for service in ends.union(wanted ?? []) { filter.select(.service, service) } }
        let account = wanted == nil ? answer.account : try await storage.account(in: answer.window, filter)
        report = MapReport(answer, account, of: ends, edges, limit: query.limit)
        services = Self.figures(of: answer)
        made = Dictionary(
            answer.groups.filter { $0.values[1] == RequestKind.client.rawValue }
                .map { ([$0.values[0], $0.values[2]], $0) }
        ) { sum, group in
            var sum = sum
            sum.merge(group)
            return sum
        }
    }

    private static func answer(
        in window: TimeWindow, _ filter: RequestFilter, _ storage: some Storage
    ) async throws -> StatisticsAnswer {
        do {
            return try await storage.statistics(
                StatisticsQuery(window: window, filter: filter, by: [.service, .kind, .host, .error]))
        } catch let error as TooManyGroups {
            throw ParameterError(
                "the map is made of more than \(error.limit) rows; ask for a shorter time or for one environment")
        }
    }

    private static func figures(of answer: StatisticsAnswer) -> [String: RequestMeasures] {
        var (served, made) = ([String: RequestGroup](), [String: RequestGroup]())
        for group in answer.groups {
            let service = (group.values.first ?? nil) ?? ""
            if group.values[1] == RequestKind.server.rawValue {
                served[service, default: RequestGroup(values: [])].merge(group)
            } else {
                made[service, default: RequestGroup(values: [])].merge(group)
            }
        }
        return made.merging(served) { $1 }.mapValues { $0.measures(seconds: answer.window.seconds) }
    }

    /// Returns the figures of the edges that end at a host.
    package func measures(into host: String) -> RequestMeasures {
        let edges = report.edges.filter { $0.callee == .host(host) }
        let sum = edges.reduce(into: RequestGroup(values: [])) { sum, edge in
            if let group = made[[edge.caller.service, host]] { sum.merge(group) }
        }
        return sum.measures(seconds: seconds)
    }
}

extension CallEdge {
    /// Whether one of its ends is one of the services; `nil` are all.
    fileprivate func touches(_ services: Set<String>?) -> Bool {
        services.map { services in [caller, callee].contains { $0.service.map(services.contains) ?? false } } ?? true
    }
}
