import MartletStorage
import MartletTelemetry

/// The flags of a report.
package typealias ReportParameters = Parameters<ReportParameter>

extension Parameters<ReportParameter> {
    package func request(now: UnixNanoseconds) throws(ParameterError) -> ReportRequest {
        let query = StatisticsQuery(window: try window(now: now), filter: try filter(), by: try dimensions())
        return ReportRequest(query: query, sort: try sort(), ascending: try ascending(), top: try top())
    }

    private func window(now: UnixNanoseconds) throws(ParameterError) -> TimeWindow {
        let from = try time(.since, default: ReportParameter.defaultSince, now: now)
        let to = try time(.until, default: "0s", now: now)
        guard from < to else { throw ParameterError("since must be before until") }
        guard to - from <= ReportParameter.longestDays * 86_400_000_000_000 else {
            throw ParameterError("since and until must be at most \(ReportParameter.longestDays) days apart")
        }
        return TimeWindow(from: from, to: to)
    }

    private func filter() throws(ParameterError) -> RequestFilter {
        var filter = RequestFilter(
            service: self[.service], kind: try choice(.kind), host: self[.host], endpoint: self[.endpoint],
            error: self[.error])
        if let text = self[.status] {
            guard let status = StatusFilter(text) else {
                throw ParameterError("status must be a code such as 404, or a class such as 5xx")
            }
            filter.status = status
        }
        return filter
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

    private func sort() throws(ParameterError) -> ReportSort {
        try choice(.sort) ?? .impact
    }

    private func ascending() throws(ParameterError) -> Bool {
        switch self[.ascending] {
        case nil, "false"?: false
        case "true"?, ""?: true
        default: throw ParameterError("ascending must be true or false")
        }
    }

    private func top() throws(ParameterError) -> Int? {
        guard let text = self[.top] else { return nil }
        guard let top = Int(text), top > 0 else { throw ParameterError("top must be a number of rows, 1 or more") }
        return top
    }
}
