import MartletTelemetry

/// The properties of a request that decide how it is counted.
package struct RequestClass: Sendable, Hashable {
    package let kind: RequestKind
    package let outcome: RequestOutcome
    package let isFailure: Bool
    /// Whether the requests are known from spans alone.
    package let isOfSpans: Bool
    /// Whether a rule of their agent changed the requests.
    package let isChanged: Bool

    package init(kind: RequestKind, outcome: RequestOutcome, isOfSpans: Bool, isChanged: Bool) {
        (self.kind, self.outcome, self.isOfSpans, self.isChanged) = (kind, outcome, isOfSpans, isChanged)
        isFailure = outcome.isFailure(for: kind)
    }

    package init(_ dimensions: RequestDimensions) {
        self.init(
            kind: dimensions.kind, outcome: dimensions.outcome, isOfSpans: dimensions.source == .spans,
            isChanged: dimensions.rule != nil)
    }
}
