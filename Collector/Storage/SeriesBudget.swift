import MartletTelemetry

/// The coarser series for points whose service has too many. A sender that puts ids into its endpoints, hosts or errors thus
/// cannot make the store and its reports grow without bound. Pure.
package enum SeriesBudget {
    /// Returns the series that a point may count to, from the finest to the coarsest. A series is made only while its service
    /// has fewer series than its `limit`. The last is always made, because there are few: a kind, a status, and how the
    /// request ended.
    package static func candidates(
        for dimensions: RequestDimensions, limit: Int
    ) -> [(dimensions: RequestDimensions, limit: Int)] {
        var ofHost = dimensions
        ofHost.endpoint = RequestDimensions.other
        var ofService = dimensions.catchAll
        ofService.host = RequestDimensions.other
        return [(dimensions, limit), (ofHost, 2 * limit), (ofService, .max)]
    }
}

extension RequestDimensions {
    /// The dimensions that a request counts to if there is no room for its own series. They keep how the request ended, and
    /// drop the host and every other dimension that may have many values.
    package var catchAll: RequestDimensions {
        let status = status.flatMap { (100..<600).contains($0) ? $0 : nil }
        var dimensions = RequestDimensions(
            kind: kind, method: Self.otherMethodOrError, host: "", port: 0, endpoint: Self.other, status: status,
            error: error.map { Self.catchAllError(for: $0, status: status) })
        dimensions.source = source
        dimensions.rule = rule.map { _ in Self.other }
        return dimensions
    }

    /// Returns an error of few possible values that keeps the request's outcome.
    private static func catchAllError(for error: String, status: Int?) -> String {
        let own = [RequestOutcome.hungError, RequestOutcome.cancelledError]
        return own.contains(error) ? error : status.map(String.init) ?? Self.otherMethodOrError
    }
}
