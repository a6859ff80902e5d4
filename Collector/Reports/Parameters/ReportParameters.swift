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
            throw ParameterError("compare is a parameter of a report, and of no series")
        }
        var query = try query(now: now)
        query.step = query.step ?? TrendStep.fitting(query.window)
        return query
    }

    /// Returns the dimensions, which are given repeatedly or separated by commas.
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
