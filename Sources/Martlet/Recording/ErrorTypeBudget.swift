import MartletTelemetry

/// A limit on the number of distinct `error.type`s, because an instrument may put an error's text into one. The first types
/// keep their names, and later ones become `_OTHER`. Statuses, and the types that decide how a request ended, always stay.
struct ErrorTypeBudget: Sendable {
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
        dimensions.error = RequestDimensions.otherMethodOrError
        return dimensions
    }
}
