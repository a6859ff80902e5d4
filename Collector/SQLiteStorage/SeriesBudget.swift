import MartletTelemetry

/// What a point counts to when its service has too many series: so that no sender that puts ids into its endpoints, its hosts
/// or its errors can make the store and its reports grow without bound. Pure.
enum SeriesBudget {
    static let overflow = "{other}"

    /// From the finest to the coarsest, each with the number of series of the service from which on no more of its kind are
    /// made. The last always are, for there are few: a kind, a status, and how the request ended.
    static func candidates(
        for dimensions: RequestDimensions, limit: Int
    ) -> [(dimensions: RequestDimensions, limit: Int)] {
        var ofHost = dimensions
        ofHost.endpoint = overflow
        return [(dimensions, limit), (ofHost, 2 * limit), (ofService(dimensions), .max)]
    }

    private static func ofService(_ dimensions: RequestDimensions) -> RequestDimensions {
        let status = dimensions.status.flatMap { (100..<600).contains($0) ? $0 : nil }
        var coarse = RequestDimensions(
            kind: dimensions.kind, method: "_OTHER", host: overflow, port: 0, endpoint: overflow, status: status,
            error: dimensions.error.map { error(of: $0, status: status) })
        coarse.source = dimensions.source
        return coarse
    }

    /// One that keeps the request's outcome.
    private static func error(of error: String, status: Int?) -> String {
        let own = [RequestOutcome.hungError, RequestOutcome.cancelledError]
        return own.contains(error) ? error : status.map(String.init) ?? "_OTHER"
    }
}
