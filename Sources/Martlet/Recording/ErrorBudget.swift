import MartletTelemetry

/// Holds the number of distinct `error.type`s to a limit, because an instrument may put what an error said into it. First come,
/// first named; what comes later is `_OTHER`. Those that decide how a request ended, and statuses, stay what they are.
struct ErrorBudget: Sendable {
    private static let own: Set = [RequestOutcome.hungError, RequestOutcome.cancelledError]

    private let limit: Int
    private var named: Set<String> = []

    init(limit: Int = MartletLimits.errorTypes) {
        self.limit = limit
    }

    mutating func admit(_ wanted: RequestDimensions) -> RequestDimensions {
        guard let error = wanted.error, !Self.own.contains(error), error != wanted.status.map(String.init),
            !named.contains(error)
        else { return wanted }
        guard named.count >= limit else {
            named.insert(error)
            return wanted
        }
        var dimensions = wanted
        dimensions.error = "_OTHER"
        return dimensions
    }
}
