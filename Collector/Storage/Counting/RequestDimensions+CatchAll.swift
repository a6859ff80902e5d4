import MartletTelemetry

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
