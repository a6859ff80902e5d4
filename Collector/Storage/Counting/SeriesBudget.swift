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
