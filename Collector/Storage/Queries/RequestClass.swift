import MartletTelemetry

/// The properties of a request that decide how it is counted.
package struct RequestClass: Sendable, Equatable {
    package let kind: RequestKind
    package let outcome: RequestOutcome
    package let isFailure: Bool
    /// Whether the requests are known from spans alone.
    package let isOfSpans: Bool
    /// Whether a rule of their agent changed the requests.
    package let isChanged: Bool

    package init(_ dimensions: RequestDimensions) {
        kind = dimensions.kind
        outcome = dimensions.outcome
        isFailure = outcome.isFailure(for: kind)
        isOfSpans = dimensions.source == .spans
        isChanged = dimensions.rule != nil
    }
}
