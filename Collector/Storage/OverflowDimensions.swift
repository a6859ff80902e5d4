import MartletTelemetry

extension RequestDimensions {
    /// Stands for the name of what has no series of its own.
    package static let other = "{other}"

    /// What a request counts to, of whichever host, where there is no room for its own series. It keeps how the request ended,
    /// and nothing else that a sender may have many of.
    package var overflow: RequestDimensions {
        let status = status.flatMap { (100..<600).contains($0) ? $0 : nil }
        var overflow = RequestDimensions(
            kind: kind, method: "_OTHER", host: "", port: 0, endpoint: Self.other, status: status,
            error: error.map { Self.overflow(of: $0, status: status) })
        overflow.source = source
        return overflow
    }

    /// One that keeps the request's outcome.
    private static func overflow(of error: String, status: Int?) -> String {
        let own = [RequestOutcome.hungError, RequestOutcome.cancelledError]
        return own.contains(error) ? error : status.map(String.init) ?? "_OTHER"
    }
}
