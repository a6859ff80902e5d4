import MartletStorage
import MartletTelemetry

/// The flags of a report.
package typealias ReportParameters = Parameters<ReportParameter>

extension Parameters<ReportParameter> {
    package func query(now: UnixNanoseconds) throws(ParameterError) -> StatisticsQuery {
        let order = GroupOrder(try choice(.sort) ?? .impact, ascending: try flag(.ascending))
        return StatisticsQuery(
            window: try window(now: now), filter: try filter(), by: try dimensions(), order: order,
            limit: try number(.top, of: "rows"), step: try step(.step))
    }

    /// Returns the query of a time series, which always has a step.
    package func seriesQuery(now: UnixNanoseconds) throws(ParameterError) -> StatisticsQuery {
        guard self[.compare] == nil else {
            throw ParameterError("compare works for reports, not for series")
        }
        var query = try query(now: now)
        query.step = query.step ?? TrendStep.fitting(query.window)
        return query
    }

    /// Returns the dimensions, which may be given as repeated parameters or separated by commas.
    private func dimensions() throws(ParameterError) -> [Dimension] {
        var dimensions: [Dimension] = []
        for (name, value) in values where name == .by {
            for part in value.split(separator: ",") {
                guard let dimension = Dimension(rawValue: String(part)) else {
                    throw ParameterError("by must be one of \(Self.list(Dimension.allCases.map(\.rawValue)))")
                }
                if !dimensions.contains(dimension) { dimensions.append(dimension) }
            }
        }
        return dimensions.isEmpty ? ReportParameter.defaultBy : dimensions
    }
}

/// The names of the flags of a report.
package struct ReportParameter: RequestParameterName {
    package static let by = Self(known: "by")
    package static let sort = Self(known: "sort")
    package static let ascending = Self(known: "ascending")
    package static let top = Self(known: "top")
    package static let step = Self(known: "step")
    package static let compare = Self(known: "compare")

    package static let others = [by, sort, ascending, top, step, compare]

    package static let defaultBy: [Dimension] = [.service, .kind, .method, .host, .endpoint]

    package var isSwitch: Bool { self == .ascending }

    package var isRepeatable: Bool { self == .by || filteredDimension != nil }

    package let rawValue: String

    package init(known text: String) { rawValue = text }
}

/// The flags of a query for the values of a dimension.
package typealias ValuesParameters = Parameters<ValuesParameter>

extension Parameters<ValuesParameter> {
    package func query(of dimension: Dimension, now: UnixNanoseconds) throws(ParameterError) -> ValuesQuery {
        ValuesQuery(
            dimension, window: try window(now: now), filter: try filter(),
            limit: try number(.limit, of: "values", upTo: ValuesParameter.maxLimit) ?? ValuesParameter.maxLimit)
    }
}

/// The names of the flags of a query for the values of a dimension.
package struct ValuesParameter: RequestParameterName {
    package static let limit = Self(known: "limit")

    package static let others = [limit]

    static let maxLimit = 1000

    package let rawValue: String

    package init(known text: String) { rawValue = text }
}

/// The flags of the map.
package typealias MapParameters = Parameters<MapParameter>

extension Parameters<MapParameter> {
    package func query(now: UnixNanoseconds) throws(ParameterError) -> MapQuery {
        MapQuery(window: try window(now: now), filter: try filter(), limit: try number(.top, of: "edges"))
    }
}

/// The names of the flags of the map. A filter by a dimension of requests would leave out one end of an edge.
package struct MapParameter: WindowParameterName {
    package static let top = Self(known: "top")

    package static let filters: [Dimension] = [.service, .environment]
    package static let others = [top]

    package let rawValue: String

    package init(known text: String) { rawValue = text }
}

/// The flags of a query about processes.
package typealias ProcessParameters = Parameters<ProcessParameter>

extension Parameters<ProcessParameter> {
    package func query(now: UnixNanoseconds) throws(ParameterError) -> ProcessQuery {
        let window = try window(now: now)
        return ProcessQuery(
            window: window, filter: try filter(), step: try step(.step) ?? TrendStep.fitting(window))
    }
}

/// The names of the flags of a query about processes. Its dimensions are those of a sender.
package struct ProcessParameter: WindowParameterName {
    package static let step = Self(known: "step")

    package static let filters = Dimension.ofSender
    package static let others = [step]

    package let rawValue: String

    package init(known text: String) { rawValue = text }
}

/// The flags of the list of senders.
package typealias AgentsParameters = Parameters<AgentsParameter>

extension Parameters<AgentsParameter> {
    /// Returns the time limit of the list. Senders last seen before it are left out.
    package func since(now: UnixNanoseconds) throws(ParameterError) -> UnixNanoseconds {
        let since = try time(.since, default: AgentsParameter.defaultSince, now: now)
        guard since <= now else { throw ParameterError("since must not be in the future") }
        return since
    }
}

/// The names of the flags of the list of senders. Its dimensions are those of a sender.
package struct AgentsParameter: ParameterName {
    package static let since = Self(known: "since")

    package static let times = [since]
    package static let filters = Dimension.ofSender
    package static let others: [Self] = []

    package static let defaultSince = "24h"

    package let rawValue: String

    package init(known text: String) { rawValue = text }
}

/// A query about who calls whom.
package struct MapQuery: Sendable, Equatable {
    package var window: TimeWindow
    /// The selected services and environments. At least one end of each edge belongs to one of the services, and both ends
    /// belong to the environments.
    package var filter: RequestFilter
    /// The most edges in the answer; `nil` for all.
    package var limit: Int?

    package init(window: TimeWindow, filter: RequestFilter, limit: Int?) {
        (self.window, self.filter, self.limit) = (window, filter, limit)
    }
}
