/// The gaps and overlaps in the sequence of an instance's batches.
package struct BatchGaps: Sendable, Equatable {
    /// Intervals whose batch did not arrive, or not with all its parts, although a later one did. It may be on its way.
    package var missing: UInt64
    /// See ``StoreOutcome/overlapping``.
    package var overlapping: UInt64

    package init(missing: UInt64, overlapping: UInt64) {
        self.missing = missing
        self.overlapping = overlapping
    }
}
