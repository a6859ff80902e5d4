/// The answer to the deletion of kept requests.
package struct RemovalReport: Sendable, Equatable, Codable {
    /// The number of spans that were deleted.
    package var removed: Int

    package init(removed: Int) {
        self.removed = removed
    }
}
