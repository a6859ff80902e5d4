import MartletStorage
import MartletTelemetry

/// The calls between services in a window.
package struct ServiceCalls: Sendable {
    /// The most observed calls that are searched for callees behind proxies.
    private static let maxCalls = 5000

    package let report: MapReport
    /// The requests by ``CallGraph/dimensions``.
    private let groups: [RequestGroup]
    private let seconds: Double

    /// - Throws: ``ParameterError`` if there are too many rows, or the store's error.
    package init(_ query: MapQuery, in storage: some Storage) async throws {
        // The other end of an edge may belong to any service.
        var filter = query.filter
        filter.removeAll(.service)
        let answer = try await Self.answer(in: query.window, filter, storage)
        let calls = try await storage.calls(in: answer.window, filter, limit: Self.maxCalls)
        let wanted = query.filter.wanted[.service]
        seconds = answer.ratedWindow.seconds
        let edges = CallGraph(answer.groups, calls, seconds: seconds).edges.filter { $0.touches(wanted) }
        let ends = Set(edges.flatMap { [$0.caller.service, $0.callee.service].compactMap(\.self) })
        if wanted != nil { for service in ends.union(wanted ?? []) { filter.select(.service, service) } }
        let account = wanted == nil ? answer.account : try await storage.account(in: answer.window, filter)
        report = MapReport(answer, account, of: ends, edges, limit: query.limit)
        groups = answer.groups
    }

    private static func answer(
        in window: TimeWindow, _ filter: RequestFilter, _ storage: some Storage
    ) async throws -> StatisticsAnswer {
        do {
            return try await storage.statistics(
                StatisticsQuery(window: window, filter: filter, by: CallGraph.dimensions))
        } catch let error as TooManyGroups {
            throw ParameterError(
                "the map needs more than \(error.limit) rows; ask for a shorter time or for one environment")
        }
    }

    /// Returns the requests that each service served; for a service that served none, its outgoing requests.
    package func services() -> [String: RequestMeasures] {
        var (served, made) = ([String: RequestGroup](), [String: RequestGroup]())
        for group in groups {
            let service = (group.values.first ?? nil) ?? ""
            if group.values[1] == RequestKind.server.rawValue {
                served[service, default: RequestGroup(values: [])].merge(group)
            } else {
                made[service, default: RequestGroup(values: [])].merge(group)
            }
        }
        return made.merging(served) { $1 }.mapValues { $0.measures(seconds: seconds) }
    }

    /// Returns the requests of the edges that end at a host.
    ///
    /// - Parameter system: the system of the host; `nil` for HTTP.
    package func requests(to host: String, system: String?) -> RequestMeasures {
        let place = MapPlace.host(host, system: system)
        let callers = Set(report.edges.filter { $0.callee == place }.map(\.caller.service))
        let made = groups.filter {
            $0.values[1] == RequestKind.client.rawValue && $0.values[2] ?? "" == host && $0.values[4] == system
                && callers.contains($0.values[0] ?? "")
        }
        return made.reduce(into: RequestGroup(values: [])) { $0.merge($1) }.measures(seconds: seconds)
    }
}

extension CallEdge {
    /// Returns whether one end of the edge is one of the services; `nil` means all services.
    fileprivate func touches(_ services: Set<String>?) -> Bool {
        services.map { services in [caller, callee].contains { $0.service.map(services.contains) ?? false } } ?? true
    }
}

extension Storage {
    /// Returns the map, with the reason if it has no edges.
    package func map(_ parameters: MapParameters, now: UnixNanoseconds) async throws -> MapReport {
        let query = try parameters.query(now: now)
        var report = try await ServiceCalls(query, in: self).report
        if report.edges.isEmpty {
            report.empty = try await noResultsReason(for: parameters.filters, in: query.window, now: now)
        }
        return report
    }
}
