import MartletStorage
import MartletTelemetry

/// What a point counts to when its service has too many series: so that no sender that puts ids into its endpoints, its hosts
/// or its errors can make the store and its reports grow without bound. Pure.
enum SeriesBudget {
    /// From the finest to the coarsest, each with the number of series of the service from which on no more of its kind are
    /// made. The last always are, for there are few: a kind, a status, and how the request ended.
    static func candidates(
        for dimensions: RequestDimensions, limit: Int
    ) -> [(dimensions: RequestDimensions, limit: Int)] {
        var ofHost = dimensions
        ofHost.endpoint = RequestDimensions.other
        var ofService = dimensions.overflow
        ofService.host = RequestDimensions.other
        return [(dimensions, limit), (ofHost, 2 * limit), (ofService, .max)]
    }
}
