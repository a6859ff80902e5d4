import MartletTelemetry

/// The coarser series that count the points of a service with too many series. They keep a sender that puts ids into its
/// endpoints, hosts or errors from making the store and its reports grow without bound. Pure.
package enum SeriesBudget {
    /// Returns the series in which a point may be counted, from the finest to the coarsest. A series is created only while the
    /// service has fewer series than the `limit` given with it. The last one is always created; there are few such series,
    /// because they distinguish only kind, status and outcome.
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
    /// The dimensions under which a request is counted if its own series has no room. They keep the outcome, and drop the host and every
    /// other dimension that may have many values.
    package var catchAll: RequestDimensions {
        let status = status.flatMap { (100..<600).contains($0) ? $0 : nil }
        var dimensions = RequestDimensions(
            kind: kind, method: Self.otherMethodOrError, host: "", port: 0, endpoint: Self.other, status: status,
            error: error.map { Self.catchAllError(for: $0, status: status) })
        dimensions.source = source
        dimensions.system = system.map { _ in Self.other }
        dimensions.rule = rule.map { _ in Self.other }
        return dimensions
    }

    /// Returns one of a few errors, chosen so that the request keeps its outcome.
    private static func catchAllError(for error: String, status: Int?) -> String {
        let own = [RequestOutcome.hungError, RequestOutcome.cancelledError]
        return own.contains(error) ? error : status.map(String.init) ?? Self.otherMethodOrError
    }
}
